// Tests: SyncRunTests.swift
import GraphModel

/// Finds the newest state that a mirror and its server have in common, with few questions to the server.
///
/// Histories that differ have the same beginning: a server that was restored from a backup has the states up to the
/// backup, and others after it. The newest state of the mirror is asked for first, because it usually is the server's.
struct CommonStateSearch {
  /// The states that the mirror has been in, oldest first.
  private let states: [Token]
  /// The server has the states in front of this index.
  private var common = 0
  /// The server does not have the states from this index on.
  private var lost: Int
  /// Whether the next answer is about the newest state.
  private(set) var isFirst = true

  init(_ states: [Token]) {
    assert(zip(states, states.dropFirst()).allSatisfy { $0.revision < $1.revision }, "states are in order")
    (self.states, lost) = (states, states.count)
  }

  private var index: Int { isFirst ? states.count - 1 : common + (lost - common) / 2 }

  /// The state for which the server is asked next; nil if the answer is known.
  var question: Token? { common == lost ? nil : states[index] }

  /// Records whether the server has the state of the question.
  mutating func record(_ isKnown: Bool) {
    precondition(common < lost, "an answer follows a question")
    if isKnown { common = index + 1 } else { lost = index }
    isFirst = false
  }

  /// Whether the server lacks states that the mirror has been in.
  var hasDiverged: Bool { lost < states.count }

  /// The revision of the newest common state; nil if the mirror knows none.
  var revision: Revision? { common == 0 ? nil : states[common - 1].revision }
}
