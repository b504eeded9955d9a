import Foundation
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Checks that a server gets the file descriptors that it needs in addition to its clients' ones.
///
/// Without them it would listen but refuse requests: the store opens more files later, and SwiftNIO's event loop
/// ends the program when it gets none.
enum DescriptorReserve {
  /// For a few clients, and for files that hold rows until they are committed or read.
  private static let clientsAndFiles = 16
  /// For an event loop: its selector, its wake-up and its timer.
  private static let eventLoop = 3

  /// The number of descriptors that must be free before the event loop is created.
  /// - Parameters:
  ///   - store: the descriptors that the store opens on first use.
  ///   - addresses: the addresses to listen on.
  static func count(store: Int, addresses: Int) -> Int { store + addresses + eventLoop + clientsAndFiles }

  /// Opens this number of descriptors and closes them again.
  /// - Throws: `StoreFailure(.noDescriptors)`, which names the limit.
  static func check(_ count: Int) throws {
    var taken = [Int32]()
    defer { for descriptor in taken { close(descriptor) } }
    while taken.count < count {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw StoreFailure(
          .noDescriptors, "stickiesd needs \(count) more open files and gets \(taken.count)",
          cause: String(cString: strerror(errno)), advice: DescriptorLimit.advice)
      }
      taken.append(descriptor)
    }
  }
}
