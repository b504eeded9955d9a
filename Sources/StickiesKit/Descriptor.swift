import Glibc

/// The three streams of a program, without buffers: what was written is seen, whatever happens next.
enum Descriptor {
  /// Writes everything; returns the error's number, 0 when there was none.
  static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Reads to the end; nil when it can't be read.
  static func readToEnd(_ descriptor: Int32) -> [UInt8]? {
    var bytes = [UInt8]()
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count > 0 {
        bytes += chunk[..<count]
      } else if count == 0 {
        return bytes
      } else if errno != EINTR {
        return nil
      }
    }
  }
}

/// What is for a person's eyes and not part of the result.
enum StandardError {
  static func write(_ line: String, terminator: String = "\n") {
    _ = Descriptor.write(line + terminator, to: 2)
  }
}
