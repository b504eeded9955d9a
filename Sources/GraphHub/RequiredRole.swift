// Tests: RoleTests.swift
import GraphModel
import GraphWire

/// The one place that decides which messages a role allows, regardless of their effect. A new message does not compile
/// until it is listed here.
extension ToServer.Body {
  /// The lowest role whose sessions may send the message.
  ///
  /// Every role may send a commit and an undo, because the writer judges each of their changes. Presence and staged
  /// rows have no effect to judge. A restore, a batch and an import read the store for a long time on the only writer
  /// before their changes are known, so a session that may not change anything can't begin one.
  var requiredRole: Role {
    switch self {
    case .presence, .batchRows, .restore, .batch, .importGraph: .commenter
    case .hello, .model, .fetch, .subscribe, .unsubscribe, .more, .log, .status, .ping, .close, .undoState, .revisionAt,
      .why, .changes, .exportGraph, .moveWindow, .cancel, .browserLogin, .commit, .undo:
      .reader
    }
  }

  /// The refusal for a session of a role that is too low; nil if it may send the message.
  func refusal(for role: Role) -> Refusal? {
    if role >= requiredRole { return nil }
    return Refusal(
      .notAllowed,
      "your role is \(role.rawValue), and this needs the role \(requiredRole.rawValue): ask the owner of the store"
    )
  }
}
