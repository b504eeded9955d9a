import Foundation
import GraphModel

/// An unlinked temporary file, which disappears with the process however that ends.
final class SpoolFile: Sendable {
  private let descriptor: Int32
  /// The share of the file in its user's limit; nil for the machine's owner.
  private let allowance: SpoolAllowance?

  init(directory: String, allowance: SpoolAllowance? = nil) throws {
    self.allowance = allowance
    let path = "\(directory)/spool-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let code = errno
      throw Self.refusal("can't be created", code)
    }
    unlink(path)
    self.descriptor = descriptor
  }

  /// Appends bytes.
  func write(_ bytes: [UInt8], at offset: Int) throws {
    try allowance?.add(bytes.count)
    var rest = bytes[...]
    var offset = offset
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.refusal("can't be written", count == 0 ? ENOSPC : errno) }
      rest = rest.dropFirst(count)
      offset += count
    }
  }

  func read(_ length: Int, at offset: Int) -> [UInt8]? {
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      count = max(0, pread(descriptor, buffer.baseAddress, length, off_t(offset)))
    }
    return bytes.count == length ? bytes : nil
  }

  /// The refusal for an error of the system. It goes to any user, so it does not name the directory.
  private static func refusal(_ what: String, _ code: Int32) -> Refusal {
    let advice =
      switch code {
      case EMFILE, ENFILE: ". \(DescriptorLimit.advice)"
      case ENOSPC: ": free some space on the disk of the store"
      case EDQUOT: ": delete some files of the server's user, or raise its quota"
      default: ": check the disk of the store"
      }
    return Refusal(
      .unavailable, "a temporary file of the server \(what) (\(String(cString: strerror(code))))\(advice)")
  }

  deinit { close(descriptor) }
}
