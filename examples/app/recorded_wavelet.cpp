// SPDX-License-Identifier: BSD-3-Clause
#include "app/recorded_wavelet.hpp"

#include <moho/core/error.hpp>
#include <moho/core/text.hpp>
#include <moho/io/checksum.hpp>
#include <moho/io/input_file.hpp>
#include <moho/io/segy.hpp>
#include <moho/survey/tables.hpp>
#include <moho/wave/wavelet.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace moho::examples {

namespace {

namespace fs = std::filesystem;

constexpr const char* of_wavelet = "WAVELET: ";
constexpr const char* of_file = "WAVELET FILE: CRC-32C ";
constexpr std::size_t line_length = 76;  // of textual headers

// Text of a wavelet that another file holds.
std::string text_of_file(const wave::WaveletText& wavelet, const std::string& path) {
  return concat("file:", path, wavelet.interval > 0.0 ? concat(":", wavelet.interval) : "");
}

bool is_segy(const fs::path& path) {
  std::string kind = path.extension().string();
  std::transform(kind.begin(), kind.end(), kind.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return kind == ".sgy" || kind == ".segy";
}

// Searches the file of a recorded wavelet: at its path, in the current folder, next to the data.
void find_file(RecordedWavelet& wavelet, const std::string& recorded_path, const fs::path& folder) {
  const wave::WaveletText text = wave::parse_wavelet(wavelet.text);
  wavelet.missing = true;
  std::vector<fs::path> paths;
  if (!recorded_path.empty()) paths.emplace_back(recorded_path);
  paths.emplace_back(text.path);
  paths.push_back(folder / text.path);
  paths.push_back(folder / fs::path(text.path).filename());
  for (const fs::path& position : paths) {
    try {
      const io::FileIdentity file = io::identify_file(position);
      if (wavelet.checksum >= 0.0 && wavelet.checksum != static_cast<double>(file.checksum)) {
        continue;
      }
      if (wavelet.bytes >= 0.0 && wavelet.bytes != static_cast<double>(file.bytes)) continue;
      wavelet.text = text_of_file(text, position.string());
      wavelet.missing = false;
      return;
    } catch (const FileError&) {
      // it is missing
    }
  }
}

std::optional<RecordedWavelet> of_summary(const fs::path& path) {
  const io::InputFile file(path);
  const Json summary = Json::parse(file.text(file.size()));
  const Json* const gather = summary.find("gather");
  const Json* const text = gather != nullptr ? gather->find("wavelet") : nullptr;
  if (text == nullptr || text->text().empty()) return std::nullopt;
  RecordedWavelet result;
  result.text = text->text();
  result.where = concat("'", path.string(), "'");
  if (const Json* const identity = gather->find("wavelet_file"); identity != nullptr) {
    const auto number = [&](const char* key) {
      const Json* const value = identity->find(key);
      return value != nullptr ? value->number(-1.0) : -1.0;
    };
    result.bytes = number("bytes");
    result.checksum = number("crc32c");
    const Json* const at = identity->find("path");
    find_file(result, at != nullptr ? at->text() : std::string(), path.parent_path());
  }
  return result;
}

std::optional<RecordedWavelet> of_segy(const fs::path& path) {
  std::istringstream lines(io::SegyReader(path).header().text);
  RecordedWavelet result;
  const auto after = [](const std::string& line, const std::string& head) {
    const std::size_t at = line.find(head);
    return at == std::string::npos
               ? std::string()
               : std::string(text::trim(std::string_view(line).substr(at + head.size())));
  };
  for (std::string line; std::getline(lines, line);) {
    if (const std::string text = after(line, of_wavelet); !text.empty()) result.text = text;
    if (const std::string text = after(line, of_file); !text.empty()) {
      result.checksum = static_cast<double>(std::strtoul(text.c_str(), nullptr, 16));
    }
  }
  if (result.text.empty()) return std::nullopt;
  result.where = concat("the textual header of '", path.string(), "'");
  try {
    const bool file = wave::parse_wavelet(result.text).kind == wave::WaveletText::Kind::file;
    // texts of other programs are no wavelet
    if (file && result.checksum < 0.0) return std::nullopt;
    if (file) find_file(result, "", path.parent_path());
  } catch (const InputError&) {
    return std::nullopt;
  }
  return result;
}

}  // namespace

void record_wavelet(const std::string& wavelet, Json& gather) {
  gather["wavelet"] = wavelet;
  const wave::WaveletText text = wave::parse_wavelet(wavelet);
  if (text.kind != wave::WaveletText::Kind::file) return;
  const io::FileIdentity file = io::identify_file(text.path);
  gather["wavelet_file"] = Json::object({{"path", fs::absolute(text.path).string()},
                                         {"bytes", file.bytes},
                                         {"crc32c", file.checksum}});
}

std::vector<std::string> wavelet_lines(const Json& gather) {
  const std::string wavelet = gather.find("wavelet")->text();
  const Json* const file = gather.find("wavelet_file");
  if (file == nullptr) return {of_wavelet + wavelet};
  std::string line = of_wavelet + wavelet;
  if (line.size() > line_length) {
    const wave::WaveletText text = wave::parse_wavelet(wavelet);
    line = of_wavelet + text_of_file(text, fs::path(text.path).filename().string());
  }
  const double checksum = file->find("crc32c")->number(0.0);
  return {line, of_file + io::checksum_text(static_cast<std::uint32_t>(checksum))};
}

std::optional<RecordedWavelet> recorded_wavelet(const std::string& data) {
  const fs::path path(data);
  std::error_code ignored;
  try {
    if (!fs::is_directory(path, ignored)) {
      if (is_segy(path)) return of_segy(path);
      return path.extension() == ".json" ? of_summary(path) : std::nullopt;
    }
    if (fs::exists(path / "summary.json", ignored)) return of_summary(path / "summary.json");
    std::optional<RecordedWavelet> found;
    for (const auto& entry : fs::directory_iterator(path, ignored)) {
      if (!is_segy(entry.path())) continue;
      const auto another = of_segy(entry.path());
      if (found && another && found->text != another->text) {
        throw InputError(concat("'", data, "' has files of different wavelets, ", found->text,
                                " in ", found->where, " and ", another->text, " in ",
                                another->where, " (allowed: one in a survey): take them apart"));
      }
      if (another) found = another;
    }
    return found;
  } catch (const FileError&) {
    return std::nullopt;  // reading the data refuses it
  }
}

bool same_wavelet(const RecordedWavelet& recorded, const std::string& wavelet) {
  const wave::WaveletText own = wave::parse_wavelet(wavelet);
  const wave::WaveletText other = wave::parse_wavelet(recorded.text);
  if (own.kind == wave::WaveletText::Kind::file && recorded.checksum >= 0.0) {
    const io::FileIdentity file = io::identify_file(own.path);
    const bool same = static_cast<double>(file.checksum) == recorded.checksum &&
                      (recorded.bytes < 0.0 || static_cast<double>(file.bytes) == recorded.bytes);
    if (same && own.interval == other.interval) return true;
  }
  if (recorded.missing) return false;
  // ten samples in the shortest period that matters
  const double dt = 1.0 / (30.0 * survey::peak_frequency(recorded.text, "--wavelet"));
  std::vector<double> expected = survey::wavelet_from_text(recorded.text, "--wavelet")(dt);
  std::vector<double> samples;
  try {
    samples = survey::wavelet_from_text(wavelet, "--wavelet")(dt);
  } catch (const InputError&) {
    return false;  // too high a frequency for that interval
  }
  const std::size_t count = std::max(expected.size(), samples.size());
  expected.resize(count, 0.0);
  samples.resize(count, 0.0);
  double largest = 0.0, difference = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(samples[i] - expected[i]));
  }
  return difference <= 1e-3 * largest;
}

}  // namespace moho::examples
