import Foundation
import GraphHub
import GraphModel
import Synchronization

/// The frames of one read in transit from a reader's thread to a session's socket.
///
/// The read transaction must not wait for the client: frames that the client has not requested yet are spooled, at
/// first in memory, the rest in an unlinked file. The client requests each frame with `more`, two ahead, so that
/// neither side holds more than that.
final class ReadStream: Sendable {
  /// Frames that may be sent ahead of the client's requests.
  static let window = 2
  /// Bytes kept in memory before the file is used.
  static let memoryLimit = 1 << 20

  private struct State {
    var credit = ReadStream.window
    var memory = [[UInt8]]()
    var memoryBytes = 0
    /// The lengths of the frames in the file, in order.
    var fileFrames = [Int]()
    var nextFileFrame = 0
    var readOffset = 0
    var writeOffset = 0
    var file: SpoolFile?
    /// Set by the reader after its last frame.
    var result: Result<Token, Refusal>?

    var isEmpty: Bool { memory.isEmpty && nextFileFrame == fileFrames.count }
    var isCancelled = false
    var isFinished = false
  }

  /// The output for the session; sent from any thread, in order.
  enum Output: Sendable {
    case frame([UInt8])
    /// The last output of the read, with its last frame.
    case finished(Result<ReadCompletion, Refusal>)
  }

  private let state = Mutex(State())
  private let directory: String
  /// The meter and the user of the read; nil for the machine's owner.
  private let spooling: (meter: SpoolMeter, user: String)?
  private let output: @Sendable (Output) -> Void

  init(
    directory: String, spool: (meter: SpoolMeter, user: String)? = nil, output: @escaping @Sendable (Output) -> Void
  ) {
    self.directory = directory
    spooling = spool
    self.output = output
  }

  struct Cancelled: Error {}

  /// Adds a frame that is not the last one.
  ///
  /// Outputs are sent under the lock, so that two threads cannot swap them; an output only hops to a loop.
  func add(_ frame: [UInt8]) throws {
    try state.withLock { state in
      if state.isCancelled { throw Cancelled() }
      assert(state.result == nil, "the last frame was finished with")
      if state.credit > 0 {
        state.credit -= 1
        return output(.frame(frame))
      }
      try spool(frame, &state)
    }
  }

  private func spool(_ frame: [UInt8], _ state: inout State) throws {
    if state.file == nil, state.memoryBytes + frame.count <= Self.memoryLimit {
      state.memory.append(frame)
      state.memoryBytes += frame.count
      return
    }
    let file =
      try state.file
      ?? SpoolFile(directory: directory, allowance: spooling.map { SpoolAllowance($0.meter, user: $0.user) })
    state.file = file
    try file.write(frame, at: state.writeOffset)
    state.writeOffset += frame.count
    state.fileFrames.append(frame.count)
  }

  /// Adds the last frame of a read of the state `at`.
  func finish(_ lastFrame: [UInt8], at token: Token) throws {
    try state.withLock { state in
      if state.isCancelled { throw Cancelled() }
      assert(state.result == nil, "a read finishes once")
      // Queued after the waiting frames, which use the credit first.
      try spool(lastFrame, &state)
      state.result = .success(token)
    }
    emitWaiting(grant: 0)
  }

  /// Ends the read with a refusal; waiting frames are sent first.
  func fail(_ refusal: Refusal) {
    state.withLock { state in
      assert(state.result == nil, "a read finishes once")
      state.result = .failure(refusal)
    }
    emitWaiting(grant: 0)
  }

  /// Grants one more frame, as requested by the client. May read a file, so do not call it on an event loop when
  /// `usesFile`.
  func more() { emitWaiting(grant: 1) }

  /// Whether `more` would have to read a file.
  var usesFile: Bool { state.withLock { $0.memory.isEmpty && $0.file != nil } }

  /// Whether the read has not been cancelled.
  var isActive: Bool { state.withLock { !$0.isCancelled } }

  /// Cancels the read; the reader notices it at its next frame, or when it next checks `isActive`.
  func cancel() {
    state.withLock {
      $0.isCancelled = true
      $0.memory = []
      $0.file = nil
    }
  }

  private func emitWaiting(grant: Int) {
    state.withLock { state in
      // A client may request more of a read that it has cancelled or received completely.
      if state.isCancelled || state.isFinished { return }
      state.credit = min(state.credit + grant, Self.window)
      while state.credit > 0 {
        if !state.memory.isEmpty {
          let frame = state.memory.removeFirst()
          state.memoryBytes -= frame.count
          assert(state.memoryBytes >= 0, "each frame in memory is counted once")
          emit(frame, &state)
        } else if let file = state.file, state.nextFileFrame < state.fileFrames.count {
          let length = state.fileFrames[state.nextFileFrame]
          assert(state.readOffset + length <= state.writeOffset, "a frame is read after it was written")
          guard let frame = file.read(length, at: state.readOffset) else {
            state.isFinished = true
            return output(.finished(.failure(Refusal(.unavailable, "the spooled result can't be read"))))
          }
          state.nextFileFrame += 1
          state.readOffset += length
          emit(frame, &state)
        } else {
          break
        }
        state.credit -= 1
      }
      if state.isEmpty, case .failure(let refusal) = state.result {
        state.isFinished = true
        output(.finished(.failure(refusal)))
      }
    }
  }

  private func emit(_ frame: [UInt8], _ state: inout State) {
    guard state.isEmpty, case .success(let token) = state.result else { return output(.frame(frame)) }
    state.isFinished = true
    output(.finished(.success(ReadCompletion(at: token, lastFrame: frame))))
  }
}
