// Opening a graph throws it, and a program must be able to catch it with one import.
@_exported import struct GraphStoreTools.MigrationRefusal
