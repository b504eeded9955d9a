import ArgumentParser
import GraphModel

/// The options of a change that another client's commit may conflict with.
struct ConflictOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: """
      If another client changed the same property (for a delete: the object) since you read it: error refuses the \
      command, storeTrump keeps the other change, objectTrump keeps yours, overwrite keeps all values that you read or \
      changed, rollback keeps all values of the store. (default: objectTrump)
      """)
  var policy: PolicyName?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The revision at which you read the object; default: the newest.", valueName: "revision"))
  var base: Revision?

  var mergePolicy: MergePolicy { if let policy { policy.policy } else { .objectTrump } }

  func validate() throws {
    if let base, base < 1 {
      throw ValidationError("--base must be at least 1, the revision of the first commit")
    }
  }

  /// Checks the options against those that select the objects.
  func check(hasCondition: Bool, oneCommit: Bool) throws {
    if oneCommit, !hasCondition { throw ValidationError("--one-commit requires --where") }
    if oneCommit, policy != nil {
      throw ValidationError(
        "--policy can't be used with --one-commit: the daemon reads and changes in one step, so there are no conflicts")
    }
    if base != nil, hasCondition { throw ValidationError("--base can't be used with --where") }
  }
}
