// SPDX-License-Identifier: BSD-3-Clause
//
// The compiled module of the Python package. Arguments have positions and checked types here;
// defaults, checks of types and docstrings are in the package.

#include "bindings.hpp"
#include "device.hpp"
#include "worker.hpp"

#include <moho/core/error.hpp>
#include <moho/core/simd.hpp>
#include <moho/core/space.hpp>
#include <moho/wave/not_finite.hpp>

#include <nanobind/stl/string.h>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace nb = nanobind;

namespace {

// Options of the programs in messages of the library, such as --time-unit, as arguments: time_unit.
std::string with_arguments(const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < text.size(); ++k) {
    const bool option = text.compare(k, 2, "--") == 0 && (k == 0 || text[k - 1] == ' ') &&
                        k + 2 < text.size() && text[k + 2] >= 'a' && text[k + 2] <= 'z';
    if (!option) {
      result += text[k];
      continue;
    }
    for (k += 2; k < text.size() && (text[k] == '-' || (text[k] >= 'a' && text[k] <= 'z')); ++k) {
      result += text[k] == '-' ? '_' : text[k];
    }
    --k;
  }
  return result;
}

// A text with the words of the package for names of C++: Equations::self_adjoint.
std::string without_types(std::string text) {
  const std::pair<std::string, std::string> names[] = {{"Equations::", ""},
                                                       {"Basis::", ""},
                                                       {"ParameterStorage::", ""},
                                                       {"BandSearch::save", "moho.Search"},
                                                       {"Lbfgs::save", "moho.Search"}};
  for (const auto& [before, after] : names) {
    for (std::size_t k = text.find(before); k != std::string::npos; k = text.find(before)) {
      text.replace(k, before.size(), after);
    }
  }
  return text;
}

// A text without a repeated first word: "dt: dt is 1 s" is "dt is 1 s".
std::string without_repetition(const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return text;
  const std::string word = text.substr(0, colon), rest = text.substr(colon + 2);
  const bool repeated = rest.compare(0, word.size(), word) == 0 && rest.size() > word.size() &&
                        (rest[word.size()] == ':' || rest[word.size()] == ' ');
  return repeated ? rest : text;
}

// Raises an exception of moho._errors.
void raise(const char* name, const std::string& text) {
  const nb::object type = nb::module_::import_("moho._errors").attr(name);
  PyErr_SetString(type.ptr(), without_repetition(without_types(with_arguments(text))).c_str());
}

// Type, shape and contiguity of an array in any memory.
nb::tuple describe(const nb::ndarray<nb::ro>& array) {
  const nb::dlpack::dtype type = array.dtype();
  std::string name = "no float";
  if (type.code == static_cast<std::uint8_t>(nb::dlpack::dtype_code::Float) && type.lanes == 1) {
    name = "float" + std::to_string(static_cast<int>(type.bits));
  }
  nb::list shape;
  std::int64_t step = 1;
  bool contiguous = true;
  for (std::size_t d = array.ndim(); d-- > 0;) {
    if (array.shape(d) > 1 && array.stride(d) != step) contiguous = false;
    step *= static_cast<std::int64_t>(array.shape(d));
  }
  for (std::size_t d = 0; d < array.ndim(); ++d) shape.append(array.shape(d));
  return nb::make_tuple(name, nb::tuple(shape), contiguous);
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const moho::InputError& error) {
    raise("InputError", error.what());
  } catch (const moho::FileError& error) {
    raise("FileError", error.what());
  } catch (const moho::MemoryError& error) {
    raise("OutOfMemoryError", error.what());
  } catch (const std::bad_alloc&) {
    raise("OutOfMemoryError",
          "memory: the system has not enough for arrays of these shapes (allowed: what is free): "
          "take fewer nodes");
  } catch (const std::length_error&) {
    raise(
        "OutOfMemoryError",
        "memory: arrays of these shapes are beyond the largest ones (allowed: what is free): take "
        "fewer nodes");
  } catch (const moho::wave::NotFinite& error) {
    raise("NotFiniteError", error.what());
  } catch (const moho::Error& error) {
    raise("Error", error.what());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // objects may live to the end of the process
  m.attr("version") = MOHO_VERSION;
  m.attr("kokkos") = moho::kokkos_version();
  m.attr("compiler") = MOHO_COMPILER;
  m.attr("vector_bits") = 8 * moho::simd::bytes;
  m.attr("has_device") = moho::python::has_device;
  m.def("describe", &describe, nb::arg("array"));
  nb::register_exception_translator(&translate);
  m.def("set_threads", &moho::python::set_threads, nb::arg("threads"));
  m.def(
      "set_memory_sharing",
      [](int host, int device) {
        moho::set_memory_sharing({host, device});
      },
      nb::arg("host"), nb::arg("device"));
  m.def("count_threads", &moho::python::count_threads);
  m.def("finish", &moho::python::finish);
  moho::python::bind_eikonal(m);
  moho::python::bind_fwi(m);
  moho::python::bind_gravity(m);
  moho::python::bind_gravity_inversion(m);
  moho::python::bind_io(m);
  moho::python::bind_linear(m);
  moho::python::bind_magnetic(m);
  moho::python::bind_rays(m);
  moho::python::bind_rtm(m);
  moho::python::bind_stream(m);
  moho::python::bind_tomography(m);
  moho::python::bind_wave(m);
}
