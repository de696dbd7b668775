# Each folder here is one test against something real, with its own list.
file(GLOB E2E_LISTS CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*/tests.cmake)
foreach(e2e_list ${E2E_LISTS})
  include(${e2e_list})
endforeach()
