// SPDX-License-Identifier: BSD-3-Clause

#include <moho/core/progress.hpp>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <thread>

namespace {

using ::testing::HasSubstr;

// A pseudo-terminal: text() returns what is written to stream().
class Terminal {
 public:
  Terminal() {
    m_control = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (m_control < 0 || ::grantpt(m_control) != 0 || ::unlockpt(m_control) != 0) return;
    m_stream = std::fopen(::ptsname(m_control), "w");
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (m_stream) std::fclose(m_stream);
    if (m_control >= 0) ::close(m_control);
  }
  std::FILE* stream() const { return m_stream; }

  // Returns the text written so far.
  std::string text() {
    ::fcntl(m_control, F_SETFL, O_NONBLOCK);
    char buffer[4096];
    ssize_t n;
    while ((n = ::read(m_control, buffer, sizeof buffer)) > 0) m_text.append(buffer, n);
    return m_text;
  }

 private:
  int m_control = -1;
  std::FILE* m_stream = nullptr;
  std::string m_text;
};

TEST(Progress, IsSilentWhereThereIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  {
    moho::TerminalProgress bar(file);
    bar(0.0, "tracing");
    bar(1.0, "tracing");
    bar.clear();
  }
  std::fflush(file);
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

TEST(Progress, DrawsOnATerminal) {
  Terminal terminal;
  if (!terminal.stream()) GTEST_SKIP() << "no pseudo-terminals on this machine";
  moho::TerminalProgress bar(terminal.stream());
  bar(0.5, "source 3 of 6");
  EXPECT_THAT(terminal.text(), HasSubstr("###############..............."));
  EXPECT_THAT(terminal.text(), HasSubstr(" 50 %  source 3 of 6"));
}

TEST(Progress, ClampsTheFraction) {
  Terminal terminal;
  if (!terminal.stream()) GTEST_SKIP() << "no pseudo-terminals on this machine";
  {
    moho::TerminalProgress bar(terminal.stream());
    bar(7.0, "too far");
  }
  EXPECT_THAT(terminal.text(), HasSubstr("100 %"));
}

TEST(Progress, RedrawsSeldom) {
  Terminal terminal;
  if (!terminal.stream()) GTEST_SKIP() << "no pseudo-terminals on this machine";
  moho::TerminalProgress bar(terminal.stream());
  for (int i = 0; i < 1000; ++i) bar(i / 1000.0, "step");
  const std::string text = terminal.text();
  std::size_t drawn = 0;
  for (std::size_t at = text.find("step"); at != std::string::npos;
       at = text.find("step", at + 1)) {
    ++drawn;
  }
  EXPECT_GE(drawn, 1u);
  EXPECT_LE(drawn, 20u);
}

TEST(Progress, LeavesACleanLine) {
  Terminal terminal;
  if (!terminal.stream()) GTEST_SKIP() << "no pseudo-terminals on this machine";
  {
    moho::TerminalProgress bar(terminal.stream());
    bar(0.5, "tracing");
  }
  const std::string text = terminal.text();
  const std::string erase = "\r\033[K";
  ASSERT_GE(text.size(), erase.size());
  EXPECT_EQ(text.substr(text.size() - erase.size()), erase);
}

TEST(Progress, BarsServeAsCallbacks) {
  Terminal terminal;
  if (!terminal.stream()) GTEST_SKIP() << "no pseudo-terminals on this machine";
  moho::TerminalProgress bar(terminal.stream());
  const moho::Progress progress = bar.callback();
  progress(0.25, "through the callback");
  EXPECT_THAT(terminal.text(), HasSubstr("through the callback"));
}

}  // namespace
