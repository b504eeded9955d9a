import CommandLineIO
import GraphJSON
import GraphModel

/// The end of a command that has printed everything except damaged objects and commits, which it names.
package struct IncompleteResult: ReportedError, CustomStringConvertible {
  private let damage: DamageNotice
  private let model: Model

  /// - Parameter damage: the objects and commits that the result omits.
  package init(_ damage: DamageNotice, _ model: Model) { (self.damage, self.model) = (damage, model) }

  /// - Throws: `IncompleteResult` if the result omits damage.
  package static func check(_ damage: DamageNotice, _ model: Model) throws {
    if !damage.isEmpty { throw IncompleteResult(damage, model) }
  }

  /// The maximum number of objects and commits that a message for users lists.
  private static let listed = 10

  package var description: String {
    // With damaged commits, the row may be sound, and only its past unknown.
    let cause =
      damage.commits.isEmpty
      ? "is damaged and not shown: its row has changed outside a commit"
      : "is not shown: its row, or a commit that changed it, is damaged"
    let objects = damage.objects.map { "\(model.entityName($0.entity).lowercased()) \($0.key) \(cause)" }
    let commits = damage.commits.map { revision in
      "revision \(revision) is damaged and not shown: its row in history has changed"
    }
    let lines = objects + commits
    let more = lines.count > Self.listed ? ["… and \(lines.count - Self.listed) more"] : []
    return (lines.prefix(Self.listed) + more + [DamageNotice.advice]).joined(separator: "\n")
  }

  package var report: CommandFailure.Report {
    var members = [JSON.Member]()
    if !damage.objects.isEmpty {
      members.append(
        .init(
          "objects",
          .array(
            damage.objects.map {
              .object([.init("id", .string($0.description)), .init("entity", ObjectJSON.entity(of: $0, model))])
            })))
    }
    if !damage.commits.isEmpty {
      members.append(.init("revisions", .array(damage.commits.map { .integer($0) })))
    }
    return CommandFailure.Report(
      code: Refusal.Code.unavailable.rawValue, message: description, exit: CommandFailure.exitCode(of: .unavailable),
      members: members)
  }
}
