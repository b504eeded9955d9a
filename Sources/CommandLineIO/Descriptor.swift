#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Unbuffered access to a program's standard streams, so that output is visible immediately, even if the program
/// crashes.
public enum Descriptor {
  /// Writes the complete text; returns the `errno` of a failure, otherwise 0.
  public static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return errno
      }
    }
    return 0
  }

  /// Reads to the end of the file; nil after a read error.
  public static func readToEnd(_ descriptor: Int32) -> [UInt8]? {
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

/// Standard output: a command's result.
public enum StandardOutput {
  /// Writes a text without buffering. A failure ends the program, because a lost result is an error. A closed pipe ends
  /// it with exit code 141 and without a message, because the reader has stopped reading on purpose.
  /// - Parameter report: prints the message of any other error; the exit code is then 1.
  public static func write(_ text: String, terminator: String = "\n", report: (String) -> Void) {
    let code = Descriptor.write(text + terminator, to: 1)
    guard code != 0 else { return }
    if code == EPIPE { exit(141) }
    report("standard output: \(String(cString: strerror(code)))")
    exit(1)
  }

  /// Opens /dev/null for each of the descriptors 0 to 2 that is closed. Otherwise a file or socket of the program
  /// would get that number, and printed text would be written to it. The access mode is reversed, so that reading and
  /// writing still fail.
  public static func reserveDescriptors() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      guard open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) == descriptor else { return }
    }
  }
}

/// Standard error: messages to the user that are not part of the result.
public enum StandardError {
  /// Writes a line to standard error, without the secrets of tokens; ignores a failure, because it cannot be reported
  /// anywhere.
  public static func write(_ line: String, terminator: String = "\n") {
    _ = Descriptor.write(TokenSecret.redacted(line) + terminator, to: 2)
  }
}

/// `write` of the C library, which a method hides.
private func writeBytes(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
