import Dispatch
import Glibc
import GraphModel

/// Lines of a stream, a batch at a time. They are read on a thread of their own: whoever writes them may take its time,
/// and the connection is kept alive meanwhile.
@MainActor
final class LineReader {
  private let queue = DispatchQueue(label: "lines")
  private let descriptor: Int32
  private var buffer = LineBuffer()

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next lines that are not blank, at most so many and about 4 MiB; none at the end.
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

/// What was read and not taken.
struct LineBuffer: Sendable {
  /// What one batch may hold; about a quarter of what a frame takes.
  static let batchSize = 4 << 20
  /// No object is larger.
  static let maximumLineSize = 16 << 20

  private var bytes = [UInt8]()
  /// Where the first line begins that was not taken.
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
            Refusal(.limit, "line \(number + 1) has more than \(Self.maximumLineSize) bytes, which no object has"))
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
