// Tests: RoleTests.swift
import GraphModel
import GraphWire

/// The one place that decides which messages a role allows. A new message does not compile until it is listed here.
extension ToServer.Body {
  /// The lowest role whose sessions may send the message. The writer judges each change of a commit.
  var requiredRole: Role {
    switch self {
    case .commit, .undo, .restore, .batchRows, .batch, .importGraph, .presence: .commenter
    case .hello, .model, .fetch, .subscribe, .unsubscribe, .more, .log, .status, .ping, .close, .undoState, .revisionAt,
      .why, .changes, .exportGraph, .moveWindow, .cancel, .browserLogin:
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
