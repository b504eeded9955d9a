// Tests: UndoStackTests.swift
import GraphModel
import GraphReplica
import Observation

/// The next steps that a client can undo and redo, for the items of a menu. Observable.
///
/// The stack itself is in the server's history. This object asks for its end after each commit of the client, after
/// each connection and after each change of `context.undoScope`. It follows the stack of that scope; without one it
/// follows all stacks of the author, and learns of commits of the author's other programs only then.
@Observable
public final class UndoStack {
  /// The next steps as the server last reported them; none before the first answer.
  public private(set) var state = UndoState()

  /// Groups the steps of a context without a scope.
  @ObservationIgnored let authorScope: UndoScope
  @ObservationIgnored private weak var client: GraphClient?
  @ObservationIgnored private var isAsking = false
  /// Whether the answer that is awaited may be out of date.
  @ObservationIgnored private var isOutdated = false

  init(_ client: GraphClient) {
    self.client = client
    authorScope = client.undoScope(.zero)
  }

  /// Whether there is a step to undo.
  public var canUndo: Bool { state.undo != nil }

  /// Whether there is a step to redo.
  public var canRedo: Bool { state.redo != nil }

  /// The name of the step that `undo` reverts, for "Undo NAME". Empty for a step without a name, and without a step.
  public var undoName: String { if let step = state.undo { step.name } else { "" } }

  /// The name of the step that `redo` restores, for "Redo NAME". Empty for a step without a name, and without a step.
  public var redoName: String { if let step = state.redo { step.name } else { "" } }

  /// Asks the server again, for example after a commit of the author's other program. Without a connection the last
  /// state stays until there is one.
  public func refresh() {
    isOutdated = true
    if isAsking { return }
    isAsking = true
    client?.spawn(for: self) { await $0.ask() }
  }

  /// Shows an answer for the context's present scope. Answers arrive in the order of their requests.
  func receive(_ answer: UndoState) { state = answer }

  private func ask() async {
    while isOutdated {
      isOutdated = false
      // The client passes on the answer, unless the scope has changed meanwhile.
      guard let client, (try? await client.undoState()) != nil else { break }
    }
    isAsking = false
  }
}
