/// An external editor of a text, which runs until the test ends it.
@MainActor
final class BlockedEditor {
  private let (begun, begin) = AsyncStream.makeStream(of: Void.self)
  private let (left, leave) = AsyncStream.makeStream(of: Void.self)

  /// - Parameter ending: what it adds to the text when it ends.
  init(on stage: BoardFixture, ending: String) {
    stage.outside = { [begin, left] text in
      begin.yield()
      for await _ in left { break }
      return text + ending
    }
  }

  /// Returns when it has the terminal.
  func begins() async { for await _ in begun { break } }

  /// Ends it; returns when the session has its result.
  func end(on terminal: GridTerminal) async {
    leave.yield()
    // After this the session handles everything in one turn.
    for await _ in terminal.resumes { break }
  }
}
