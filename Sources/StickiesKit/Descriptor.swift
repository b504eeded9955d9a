import Glibc

/// The three streams of a program, without buffers: what was written is seen, whatever happens next.
public enum Descriptor {
  /// Writes everything; returns the error's number, 0 when there was none.
  public static func write(_ text: String, to descriptor: Int32) -> Int32 {
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

/// The result of a command.
public enum StandardOutput {
  /// Writes a text without a buffer. If that fails, the program ends: a result that is lost is no success. A closed
  /// pipe ends it with 141 and without a message, since its reader has seen enough.
  /// - Parameter report: prints the message for any other error; the exit code is 1 then.
  public static func write(_ text: String, terminator: String = "\n", report: (String) -> Void) {
    let code = Descriptor.write(text + terminator, to: 1)
    guard code != 0 else { return }
    if code == EPIPE { exit(141) }
    report("standard output: \(String(cString: strerror(code)))")
    exit(1)
  }

  /// Opens /dev/null in the place of those of the descriptors 0 to 2 that are closed, before a file or a socket of
  /// the program gets their number and, with it, what is printed. The direction is the wrong one, so that reading and
  /// writing still fail.
  public static func reserveDescriptors() {
    for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      guard open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) == descriptor else { return }
    }
  }
}

/// What is for a person's eyes and not part of the result.
public enum StandardError {
  /// Writes a line to standard error; where that fails there is no other place to say so.
  public static func write(_ line: String, terminator: String = "\n") {
    _ = Descriptor.write(line + terminator, to: 2)
  }
}
