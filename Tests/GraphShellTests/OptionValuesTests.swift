import Testing

@testable import GraphShell

/// Values that begin with a dash.
@Suite struct OptionValuesTests {
  @Test(arguments: [
    (["graph", "fetch", "Person", "--at", "-1h"], ["graph", "fetch", "Person", "--at=-1h"]),
    (["graph", "fetch", "Person", "--at", "-h", "--json"], ["graph", "fetch", "Person", "--at=-h", "--json"]),
    (["graph", "fetch", "Person", "--where", "---"], ["graph", "fetch", "Person", "--where=---"]),
    (["graph", "fetch", "Person", "--where", "--=a"], ["graph", "fetch", "Person", "--where=--=a"]),
    // The value of --where is --at, and -h asks for help.
    (["graph", "fetch", "Person", "--where", "--at", "-h"], ["graph", "fetch", "Person", "--where", "--at", "-h"]),
    // A flag has no value, and no word after -- belongs to an option.
    (["graph", "fetch", "Person", "--json", "-h"], ["graph", "fetch", "Person", "--json", "-h"]),
    (["graph", "fetch", "--json", "--", "--at", "-h"], ["graph", "fetch", "--json", "--", "--at", "-h"]),
    (["graph", "fetch", "Person", "--at"], ["graph", "fetch", "Person", "--at"]),
    (["-h"], ["-h"]), ([], []),
  ])
  func valueThatTheParserMisreadsIsJoined(arguments: [String], joined: [String]) {
    #expect(CompanyProgram.run { OptionValues.joined(arguments, of: CompanyCommand.self) } == joined)
  }
}
