// Tests: LiveConflictsTests.swift
import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reports that files of a folder were written, by any process: events of the system, not a timer.
final class FileWatcher {
  private let source: any DispatchSourceProtocol

  /// Watches the files of a folder whose names begin with a prefix, and one that is replaced as a whole.
  /// - Parameters:
  ///   - replaced: the name of the file that is replaced.
  ///   - queue: the queue on which `didWrite` is called, once for several writes.
  /// - Returns: nil if the system can't watch the folder.
  init?(
    folder: String, prefix: String, replaced: String, queue: DispatchQueue, didWrite: @escaping @Sendable () -> Void
  ) {
    #if os(Linux)
      let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard descriptor >= 0 else { return nil }
      let mask = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO) | UInt32(IN_DELETE)
      guard inotify_add_watch(descriptor, folder, mask) >= 0 else {
        close(descriptor)
        return nil
      }
      // The system ends a name with zeros; the files beside the replaced one are written all the time.
      let names = [Array(prefix.utf8), Array(replaced.utf8) + [0]]
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
      source.setEventHandler {
        if FileWatcher.drain(descriptor, names) { didWrite() }
      }
    #else
      // A vnode's events are those of one file: the log of SQLite, which every commit appends to. The replaced file is
      // looked at with each of them.
      let descriptor = open(folder + "/" + prefix + "-wal", O_EVTONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      let source = DispatchSource.makeFileSystemObjectSource(
        fileDescriptor: descriptor, eventMask: [.write, .extend, .delete], queue: queue)
      source.setEventHandler { didWrite() }
    #endif
    source.setCancelHandler { close(descriptor) }
    source.activate()
    self.source = source
  }

  deinit { source.cancel() }

  #if os(Linux)
    /// The bytes of an event in front of its name: the watch, the mask, a cookie and the length of the name.
    private static let headerSize = 16
    private static let lengthOffset = 12

    /// Reads all events.
    /// - Returns: whether one concerns a file whose name begins with one of the prefixes.
    private static func drain(_ descriptor: Int32, _ prefixes: [[UInt8]]) -> Bool {
      var concerns = false
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return concerns }
        var start = 0
        while start + headerSize <= count {
          let length = buffer.withUnsafeBytes {
            Int($0.loadUnaligned(fromByteOffset: start + lengthOffset, as: UInt32.self))
          }
          let end = min(start + headerSize + length, count)
          let name = buffer[(start + headerSize)..<end]
          concerns = concerns || prefixes.contains { name.starts(with: $0) }
          start = end
        }
      }
    }
  #endif
}
