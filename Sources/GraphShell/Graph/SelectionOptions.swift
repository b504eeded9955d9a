import ArgumentParser

/// The options that select a part of an entity's objects: a predicate, an order and a range.
struct SelectionOptions: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: "A predicate, such as 'name BEGINSWITH \"A\" AND age > 30'.")
  var condition: String?
  @Option(parsing: .unconditional, help: "Attributes to sort by, a minus for descending: -age,name.")
  var sort = ""
  @OptionGroup var limit: LimitOption
  @Option(parsing: .unconditional, help: "Skip this many first.")
  var offset = 0

  func validate() throws {
    if offset < 0 { throw ValidationError("--offset must be at least 0") }
  }
}
