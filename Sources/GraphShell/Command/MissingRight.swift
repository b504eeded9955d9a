// Tests: RoleCommandTests.swift
import GraphModel

/// The refusal of a command that the user's role does not allow, which has an exit code of its own.
struct MissingRight: ReportedError {
  let report: CommandFailure.Report

  /// - Parameter role: the role in the server's welcome.
  /// - Returns: nil for any other error.
  init?(_ error: any Error, role: String?) {
    let refusal: Refusal
    switch error {
    case let error as Refusal: refusal = error
    case let error as ModelRefusal: refusal = error.refusal
    default: return nil
    }
    guard let role, role != Role.owner.rawValue, refusal.code == .notAllowed else { return nil }
    report = CommandFailure.Report(
      code: refusal.code.rawValue, message: refusal.message, exit: CommandFailure.notPermitted)
  }
}
