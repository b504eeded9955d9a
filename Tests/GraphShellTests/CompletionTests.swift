import Testing

@testable import GraphShell

@Suite struct CompletionContextTests {
  private func words(_ typed: String..., program: CompanyProgram = CompanyProgram()) -> [String] {
    let context = CompanyProgram.run { CompletionContext(typed, of: program) }
    guard case .words(let candidates) = context.wanted else { return [] }
    return candidates.map(\.word)
  }

  private func kind(_ typed: String..., program: CompanyProgram = CompanyProgram()) -> CompletionContext.Kind? {
    let context = CompanyProgram.run { CompletionContext(typed, of: program) }
    guard case .things(let kind, _) = context.wanted else { return nil }
    return kind
  }

  @Test func commandsOfProgramAreOffered() {
    let commands = words("")
    #expect(commands.contains("graph") && commands.contains("undo"))
    // `complete` is for shells.
    #expect(!commands.contains("complete"))
    #expect(words("graph", "").contains("fetch"))
  }

  @Test func optionsAreOfferedOnce() {
    #expect(words("graph", "fetch", "Person", "--").contains("--count"))
    #expect(!words("graph", "fetch", "Person", "--count", "--").contains("--count"))
  }

  @Test func valuesAreCompletedByTheirNames() {
    #expect(kind("graph", "fetch", "") == .entity)
    #expect(kind("graph", "show", "") == .object)
    #expect(kind("log", "--author", "") == .author)
  }

  @Test func programCompletesValuesThatItNames() {
    #expect(kind("restore", "") == nil)
    #expect(kind("restore", "", program: CompanyProgram(completedValues: ["object"])) == .value("object"))
    // The commands of any model complete ids.
    #expect(kind("graph", "restore", "", program: CompanyProgram(completedValues: ["object"])) == .object)
  }

  @Test func serverIsTakenFromLine() {
    let context = CompanyProgram.run { CompletionContext(["graph", "fetch", "--server", "unix:///s", ""]) }
    #expect(context.server == "unix:///s")
  }

  @Test func candidateWithControlCharacterIsNotOffered() {
    #expect(CompletionCandidate(word: "Ann").isOneLine)
    #expect(!CompletionCandidate(word: "An\nn").isOneLine)
    #expect(!CompletionCandidate(word: "").isOneLine)
    #expect(CompletionCandidate(word: "1", text: "Ann").line == "1\tAnn")
  }

  @Test func scriptsCallProgramByItsName() {
    #expect(CompletionCommand.bash("company").contains("\ncomplete -F _company company"))
    #expect(CompletionCommand.zsh("company").hasPrefix("#compdef company\n"))
    #expect(CompletionCommand.fish("company").contains("complete -c company -f"))
  }
}

@Suite struct BashLineTests {
  @Test func bareCandidateIsQuoted() throws {
    let line = try #require(BashLine("company show An", replacing: "An"))
    #expect(line.words == ["show", "An"])
    #expect(line.replacement(for: "Ann Lee") == "Ann\\ Lee")
    #expect(line.replacement(for: "$(reboot)") == "\\$\\(reboot\\)")
  }

  @Test func candidateIsQuotedForItsQuotationMarks() throws {
    let double = try #require(BashLine("company show \"An", replacing: "An"))
    #expect(double.replacement(for: "Ann $1") == "Ann \\$1")
    let single = try #require(BashLine("company show 'An", replacing: "An"))
    #expect(single.replacement(for: "Ann $1") == "Ann $1")
  }

  @Test func lineWithFurtherCommandIsNotCompleted() {
    #expect(BashLine("company show; ls", replacing: "ls") == nil)
    #expect(BashLine("company show $(ls", replacing: "ls") == nil)
  }
}
