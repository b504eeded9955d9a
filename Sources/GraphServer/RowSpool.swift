import Foundation
import GraphModel
import GraphWire
import Synchronization

/// The rows of a batch in transit to the writer, in an unlinked file.
///
/// A client may send a million rows before it requests the batch. The rows are released when the session ends.
final class RowSpool: BatchRowSource {
  private struct Chunk {
    let rows: Int
    /// The range of its bytes in the file; nil until they are written.
    var place: Range<Int>?
  }

  private struct State {
    var chunks = [Chunk]()
    var end = 0
    var file: SpoolFile?
  }

  private let state = Mutex(State())
  private let directory: String
  private let maximumBytes: Int
  private let allowance: SpoolAllowance?

  /// - Parameter allowance: the share of the rows in their user's limit; nil for the machine's owner.
  init(directory: String, maximumBytes: Int, allowance: SpoolAllowance? = nil) {
    self.directory = directory
    self.maximumBytes = maximumBytes
    self.allowance = allowance
  }

  var count: Int { state.withLock { $0.chunks.reduce(0) { $0 + $1.rows } } }

  /// Reserves the next position in the sequence of rows; another thread writes them.
  func reserve(rows: Int) -> Int {
    state.withLock { state in
      state.chunks.append(Chunk(rows: rows))
      return state.chunks.count - 1
    }
  }

  /// Writes the rows of a reserved position.
  /// - Returns: the number of rows up to and including this position.
  func write(_ rows: [[Value]], at number: Int) -> Result<Int, Refusal> {
    let bytes = BatchRows.bytes(of: rows)
    do {
      let (file, offset) = try state.withLock { state in
        guard state.end + bytes.count <= maximumBytes else {
          throw Refusal(.limit, "the rows of a batch have at most \(maximumBytes) bytes; split the batch")
        }
        let file = try state.file ?? SpoolFile(directory: directory, allowance: allowance)
        state.file = file
        defer { state.end += bytes.count }
        return (file, state.end)
      }
      try file.write(bytes, at: offset)
      return state.withLock { state in
        assert(state.chunks[number].place == nil, "the rows of a position are written once")
        assert(state.chunks[number].rows == rows.count, "a position was reserved for these rows")
        state.chunks[number].place = offset..<(offset + bytes.count)
        return .success(state.chunks[...number].reduce(0) { $0 + $1.rows })
      }
    } catch {
      return .failure(error as? Refusal ?? Refusal(.unavailable, "the rows of the batch can't be stored: \(error)"))
    }
  }

  func forEachChunk(_ body: ([[Value]]) throws -> Void) throws {
    let (chunks, file) = state.withLock { ($0.chunks, $0.file) }
    for chunk in chunks {
      guard let place = chunk.place, let bytes = file?.read(place.count, at: place.lowerBound) else {
        throw Refusal(.unavailable, "the stored rows of the batch can't be read")
      }
      try body(try BatchRows.rows(in: bytes))
    }
  }
}
