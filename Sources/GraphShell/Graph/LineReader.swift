import Dispatch
import GraphJSON
import GraphModel

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A line of JSON Lines, without its line break.
package struct InputLine: Sendable {
  /// The line number, from 1.
  package let number: Int
  package let bytes: [UInt8]

  package init(number: Int, bytes: [UInt8]) { (self.number, self.bytes) = (number, bytes) }

  /// The line's JSON.
  func json() throws(InvalidInputError) -> JSON {
    do {
      return try JSON(parsingEnvelope: bytes)
    } catch {
      throw InvalidInputError("column \(error.column): \(error.reason)")
    }
  }

  /// The members of the line's object.
  func members() throws(InvalidInputError) -> [JSON.Member] {
    guard let members = try json().members else { throw InvalidInputError("a JSON object is expected") }
    return members
  }

  /// Runs `body`, and reports its error as a mistake in this line.
  /// - Parameter done: a clause about the lines that are already committed.
  func reporting<Result>(done: String, _ body: () throws(InvalidInputError) -> Result) throws -> Result {
    do throws(InvalidInputError) {
      return try body()
    } catch {
      throw InvalidLinesError(mistakes: [LinePlanner.InvalidLine(line: number, reason: error.description)], done: done)
    }
  }
}

/// Reads lines of a stream in batches, on a thread of its own. The writer may be slow, and the connection must stay
/// alive meanwhile.
@MainActor
final class LineReader {
  /// The number of lines that `next` reads at a time.
  private static let linesAtOnce = 1_000

  private let queue = DispatchQueue(label: "lines")
  private let descriptor: Int32
  private var buffer = LineBuffer()
  /// Lines that `next` has read and not returned.
  private var ready = [InputLine]()[...]

  init(descriptor: Int32) { self.descriptor = descriptor }

  /// The next non-blank line; nil at the end.
  func next() async throws -> InputLine? {
    if ready.isEmpty { ready = try await lines(atMost: Self.linesAtOnce)[...] }
    return ready.popFirst()
  }

  /// The next non-blank lines, up to a count and about 4 MiB; empty at the end.
  func lines(atMost count: Int) async throws -> [InputLine] {
    precondition(ready.isEmpty, "lines that were read and not returned come first")
    let (queue, descriptor, buffer) = (queue, descriptor, buffer)
    let (lines, rest) = await withCheckedContinuation { continuation in
      queue.async {
        var buffer = buffer
        let lines = buffer.readLines(count, from: descriptor)
        continuation.resume(returning: (lines, buffer))
      }
    }
    self.buffer = rest
    return try lines.get()
  }
}

/// Bytes that were read and not yet returned.
package struct LineBuffer: Sendable {
  /// Maximum size of a batch, about a quarter of a frame.
  static let batchSize = 4 << 20
  /// Maximum size of a line; no object is larger.
  static let maximumLineSize = 16 << 20

  private var bytes = [UInt8]()
  /// The start of the first line that was not returned.
  private var start = 0
  private var isAtEnd = false
  private var number = 0

  init() {}

  /// The non-blank lines of a complete file.
  package static func lines(of bytes: [UInt8]) -> [InputLine] {
    var buffer = LineBuffer()
    (buffer.bytes, buffer.isAtEnd) = (bytes, true)
    var (lines, size) = ([InputLine](), 0)
    while let line = buffer.nextRange() { buffer.append(line, &lines, &size) }
    return lines
  }

  /// The range of the next complete line, which `start` then follows; nil if the bytes contain none.
  /// - Parameter searched: the position up to which there is no line break.
  private mutating func nextRange(from searched: Int? = nil) -> Range<Int>? {
    if let end = bytes[(searched ?? start)...].firstIndex(of: 0x0A) {
      defer { start = end + 1 }
      return start..<end
    }
    guard isAtEnd, start < bytes.count else { return nil }
    defer { start = bytes.count }
    return start..<bytes.count
  }

  mutating func readLines(_ count: Int, from descriptor: Int32) -> Result<[InputLine], Refusal> {
    var lines = [InputLine]()
    var size = 0
    var searched = start
    while lines.count < count, size < Self.batchSize {
      if let line = nextRange(from: searched) {
        append(line, &lines, &size)
        searched = start
      } else if isAtEnd {
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
    assert(range.upperBound <= start, "a line that is returned is not returned again")
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
        guard let start = bytes.baseAddress else { preconditionFailure("a buffer with bytes has an address") }
        return read(descriptor, start + old, size)
      }
    } while count < 0 && errno == EINTR
    bytes.removeLast(size - max(0, count))
    if count == 0 { isAtEnd = true }
    return count < 0 ? Refusal(.unavailable, "the lines can't be read (\(String(cString: strerror(errno))))") : nil
  }
}
