import Foundation
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#endif

/// The descriptors that a server needs besides those of its clients. Without them it would listen and refuse what is
/// asked: each connection to the database takes two, and the event loop ends the program when it gets none.
enum DescriptorReserve {
  /// For a few clients, and for rows that are kept in files until they are committed or read.
  private static let clientsAndFiles = 16
  /// Of an event loop: its selector, its wake-up and its timer.
  private static let eventLoop = 3

  /// How many must be free before the event loop is made.
  /// - Parameters:
  ///   - connections: to the database, which are opened when they are first needed.
  ///   - addresses: to listen on.
  static func count(connections: Int, addresses: Int) -> Int {
    2 * connections + addresses + eventLoop + clientsAndFiles
  }

  /// Takes so many descriptors and gives them back.
  /// - Throws: `StoreFailure(.noDescriptors)`, which names the limit.
  static func check(_ count: Int) throws {
    var taken = [Int32]()
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < count {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw SQLiteStore.systemFailure("stickiesd needs \(count) more open files and gets \(taken.count)", errno)
      }
      taken.append(descriptor)
    }
  }
}
