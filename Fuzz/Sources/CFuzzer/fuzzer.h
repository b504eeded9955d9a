#include <stddef.h>
#include <stdint.h>
// libFuzzer as a library, for a program that has a main of its own.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
