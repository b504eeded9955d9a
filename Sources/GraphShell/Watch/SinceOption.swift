import ArgumentParser
import GraphModel

/// The revision at which a watch begins.
package struct SinceOption: ParsableArguments {
  @Option(
    name: .customLong("since"), parsing: .unconditional,
    help: ArgumentHelp("Begin after this revision; default: with the present state.", valueName: "revision"))
  package var revision: Revision?

  package init() {}

  package func validate() throws {
    if let revision, revision < 0 { throw ValidationError("--since must be 0 or more") }
  }
}
