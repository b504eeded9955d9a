import Foundation
import GraphModel
import GraphStore

#if canImport(Glibc)
  import Glibc
#endif

/// Checks that a server gets the file descriptors that it needs besides those of its clients.
///
/// Without them it would listen but refuse requests: each database connection takes two, and SwiftNIO's event loop
/// ends the program when it gets none.
enum DescriptorReserve {
  /// For a few clients, and for files that hold rows until they are committed or read.
  private static let clientsAndFiles = 16
  /// For an event loop: its selector, its wake-up and its timer.
  private static let eventLoop = 3

  /// The number of descriptors that must be free before the event loop is created.
  /// - Parameters:
  ///   - connections: database connections, opened on first use.
  ///   - addresses: the addresses to listen on.
  static func count(connections: Int, addresses: Int) -> Int {
    2 * connections + addresses + eventLoop + clientsAndFiles
  }

  /// Opens this number of descriptors and closes them again.
  /// - Throws: `StoreFailure(.noDescriptors)`, which names the limit.
  static func check(_ count: Int) throws {
    var taken = [Int32]()
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < count {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw StoreFiles.failure("stickiesd needs \(count) more open files and gets \(taken.count)", errno)
      }
      taken.append(descriptor)
    }
  }
}
