import ArgumentParser

/// The options that select a part of an entity's objects: a predicate, an order and a range.
struct SelectionOptions: ParsableArguments {
  @Option(
    name: .customLong("where"), parsing: .unconditional,
    help: ArgumentHelp(
      "Only objects that match this predicate, such as 'name BEGINSWITH \"A\" AND age > 30'.",
      valueName: "predicate"))
  var condition: String?
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Attributes to sort by, separated by commas; a minus means descending: -age,name.", valueName: "keys"))
  var sort = ""
  @OptionGroup var limit: LimitOption
  @Option(parsing: .unconditional, help: ArgumentHelp("Skip this many first.", valueName: "count"))
  var offset = 0

  func validate() throws {
    if offset < 0 { throw ValidationError("--offset must be at least 0") }
  }
}
