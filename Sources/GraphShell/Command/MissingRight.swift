// Tests: RoleCommandTests.swift
import GraphModel

/// The refusal of a command that the user's role does not allow, which has an exit code of its own.
struct MissingRight: ReportedError {
  let report: CommandFailure.Report

  /// - Parameter rights: the user's rights on the server; nil for everything.
  /// - Returns: nil for any other error.
  init?(_ error: any Error, rights: Rights?) {
    let refusal: Refusal
    switch error {
    case let error as Refusal: refusal = error
    case let error as ModelRefusal: refusal = error.refusal
    default: return nil
    }
    guard let rights, rights.role != .owner, refusal.code == .notAllowed else { return nil }
    report = CommandFailure.Report(
      code: refusal.code.rawValue, message: refusal.message, exit: CommandFailure.notPermitted)
  }
}
