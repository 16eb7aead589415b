# Toolchain file: another machine's compiler from Debian, and qemu to run what it makes.
#   cmake -B build/s390x -G Ninja --toolchain cmake/machine.cmake -DCALLSIGN_MACHINE=s390x -DCALLSIGN_OPTIONAL=OFF
# CALLSIGN_MACHINE: aarch64 armhf i386 s390x riscv64; or musl, this processor with musl instead of glibc, all static.

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CALLSIGN_MACHINE)
set(CSN_TRIPLE_aarch64 aarch64-linux-gnu)
set(CSN_TRIPLE_armhf arm-linux-gnueabihf)
set(CSN_TRIPLE_i386 i686-linux-gnu)
set(CSN_TRIPLE_s390x s390x-linux-gnu)
set(CSN_TRIPLE_riscv64 riscv64-linux-gnu)
set(CSN_QEMU_armhf arm)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CALLSIGN_MACHINE})
if(CALLSIGN_MACHINE STREQUAL "musl")
    set(CMAKE_C_COMPILER musl-gcc)
    set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
else()
    set(triple ${CSN_TRIPLE_${CALLSIGN_MACHINE}})
    if(NOT triple)
        message(FATAL_ERROR "CALLSIGN_MACHINE is '${CALLSIGN_MACHINE}': need aarch64, armhf, i386, s390x, riscv64 or musl")
    endif()
    set(qemu ${CALLSIGN_MACHINE})
    if(CSN_QEMU_${CALLSIGN_MACHINE})
        set(qemu ${CSN_QEMU_${CALLSIGN_MACHINE}})
    endif()
    set(CMAKE_C_COMPILER ${triple}-gcc)
    set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${qemu}-static;-L;/usr/${triple}")
endif()
