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
      let limit = code == EMFILE || code == ENFILE ? ". \(DescriptorLimit.advice)" : ""
      throw Refusal(
        .unavailable, "can't create a temporary file in \(directory) (\(String(cString: strerror(code))))\(limit)")
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
      guard count > 0 else { throw Refusal(.unavailable, "the disk has no space for a temporary file") }
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

  deinit { close(descriptor) }
}
