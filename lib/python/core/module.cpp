// SPDX-License-Identifier: BSD-3-Clause
//
// The compiled module of the Python package. Arguments have positions and checked types here;
// defaults, checks of types and docstrings are in the package.

#include "bindings.hpp"
#include "worker.hpp"

#include <moho/core/error.hpp>
#include <moho/wave/not_finite.hpp>

#include <nanobind/stl/string.h>

#include <string>

namespace nb = nanobind;

namespace {

// Raises an exception of moho._errors. The library's checks of positions name the option --spacing
// of the programs; here it is an argument.
void raise(const char* name, std::string text) {
  const std::string option = "--spacing";
  const std::size_t found = text.find(option);
  if (found != std::string::npos) text.replace(found, option.size(), "spacing");
  const nb::object type = nb::module_::import_("moho._errors").attr(name);
  PyErr_SetString(type.ptr(), text.c_str());
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
  nb::register_exception_translator(&translate);
  m.def("set_threads", &moho::python::set_threads, nb::arg("threads"));
  m.def("count_threads", &moho::python::count_threads);
  m.def("finish", &moho::python::finish);
  moho::python::bind_eikonal(m);
  moho::python::bind_fwi(m);
  moho::python::bind_gravity(m);
  moho::python::bind_io(m);
  moho::python::bind_rays(m);
  moho::python::bind_rtm(m);
  moho::python::bind_wave(m);
}
