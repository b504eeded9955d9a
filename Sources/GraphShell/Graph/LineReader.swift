import Dispatch
import Glibc
import GraphModel

/// Reads lines of a stream in batches, on a thread of its own. The writer may be slow, and the connection must stay
/// alive meanwhile.
@MainActor
final class LineReader {
  private let queue = DispatchQueue(label: "lines")
  private let descriptor: Int32
  private var buffer = LineBuffer()

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next non-blank lines, up to a count and about 4 MiB; empty at the end.
  func lines(atMost count: Int) async throws -> [InputLine] {
    let (queue, descriptor, buffer) = (queue, descriptor, buffer)
    let (lines, rest) = await withCheckedContinuation { continuation in
      queue.async {
        var buffer = buffer
        let lines = buffer.take(count, from: descriptor)
        continuation.resume(returning: (lines, buffer))
      }
    }
    self.buffer = rest
    return try lines.get()
  }
}

/// Bytes that were read and not yet returned.
struct LineBuffer: Sendable {
  /// Maximum size of a batch, about a quarter of a frame.
  static let batchSize = 4 << 20
  /// Maximum size of a line; no object is larger.
  static let maximumLineSize = 16 << 20

  private var bytes = [UInt8]()
  /// The start of the first line that was not returned.
  private var start = 0
  private var isAtEnd = false
  private var number = 0

  mutating func take(_ count: Int, from descriptor: Int32) -> Result<[InputLine], Refusal> {
    var lines = [InputLine]()
    var size = 0
    var searched = start
    while lines.count < count, size < Self.batchSize {
      if let end = bytes[searched...].firstIndex(of: 0x0A) {
        append(start..<end, &lines, &size)
        start = end + 1
        searched = start
      } else if isAtEnd {
        if start < bytes.count { append(start..<bytes.count, &lines, &size) }
        (bytes, start) = ([], 0)
        break
      } else {
        bytes.removeFirst(start)
        start = 0
        searched = bytes.count
        guard bytes.count <= Self.maximumLineSize else {
          return .failure(
            Refusal(.limit, "line \(number + 1) has more than \(Self.maximumLineSize) bytes, an object's maximum"))
        }
        if let refusal = fill(from: descriptor) { return .failure(refusal) }
      }
    }
    return .success(lines)
  }

  private mutating func append(_ range: Range<Int>, _ lines: inout [InputLine], _ size: inout Int) {
    number += 1
    let line = bytes[range]
    guard !line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return }
    lines.append(InputLine(number: number, bytes: Array(line)))
    size += line.count
  }

  private mutating func fill(from descriptor: Int32) -> Refusal? {
    let size = 64 << 10
    let old = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: size))
    var count = 0
    repeat {
      count = bytes.withUnsafeMutableBytes { bytes in
        bytes.baseAddress.map { read(descriptor, $0 + old, size) } ?? -1
      }
    } while count < 0 && errno == EINTR
    bytes.removeLast(size - max(0, count))
    if count == 0 { isAtEnd = true }
    return count < 0 ? Refusal(.unavailable, "the lines can't be read (\(String(cString: strerror(errno))))") : nil
  }
}
