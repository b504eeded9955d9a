import GraphModel

/// The refusal of a command by this program, before it asks the server: for a file that must not be replaced, or for a
/// step that the user did not confirm. Unlike a refusal by the server, it is never about the user's rights.
struct ProgramRefusal: ReportedError {
  let message: String

  init(_ message: String) { self.message = message }

  var report: CommandFailure.Report {
    CommandFailure.Report(
      code: Refusal.Code.notAllowed.rawValue, message: message,
      exit: CommandFailure.exitCode(of: .notAllowed))
  }
}
