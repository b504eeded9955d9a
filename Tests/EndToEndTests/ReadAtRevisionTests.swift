import GraphModel
import GraphTesting
import Testing

/// `stickies graph update --base` merges a text with the edits of other clients since the revision that was read.
@Suite struct ReadAtRevisionTests {
  private let company: CompanyDaemon
  private let project: String
  /// The revision at which the plan was "one two three"; Ben has appended a word since.
  private let read: String

  init() throws {
    company = try CompanyDaemon()
    let department = try company.department()
    project = try company.insert("Project", "title=Launch", "plan=one two three", "department=\(department)")
    read = String(try #require(try company.run("show", project, "--json").json()["revision"]?.integerValue))
    try company.run("update", project, "plan=one two three four", author: "ben@test")
  }

  private func plan() throws -> String? { try company.run("show", project, "--json").json()["plan"]?.stringValue }

  @Test(arguments: MergePolicy.allCases)
  func concurrentChangesSinceBaseAreMerged(policy: MergePolicy) throws {
    let saved = try company.run(
      "update", project, "plan=zero one two three", "--base", read, "--policy", "\(policy)", "--json")
    #expect(saved.status == 0, "\(saved.errors)")
    #expect(saved.errors.isEmpty)
    #expect(try saved.json()["plan"] == .string("zero one two three four"))
  }

  @Test func updateWithoutBaseReplacesText() throws {
    try company.run("update", project, "plan=zero one two three")
    #expect(try plan() == "zero one two three")
  }

  @Test func baseBeforeInsertIsComparedWithAllLaterChanges() throws {
    let refused = try company.run("update", project, "plan=zero", "--base", "1", "--policy", "error")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("ben@test has changed Project.plan since you read it"), "\(refused.errors)")
    #expect(try company.run("update", project, "plan=zero", "--base", "-1").status == 64)
    #expect(try plan() == "one two three four")
  }

  /// Two shells that increment a value have read the same number: the second is refused, although both set the same
  /// value.
  @Test func counterUpdateRequiresItsReadValue() throws {
    func revision() throws -> String {
      String(try #require(try company.run("show", project, "--json").json()["revision"]?.integerValue))
    }
    let read = try revision()
    #expect(try company.run("update", project, "weight=6", "--if-revision", read, author: "ben@test").status == 0)
    let theirs = try revision()
    let refused = try company.run("update", project, "weight=6", "--if-revision", read, author: "zoe@test")
    #expect(refused.status == 2, "\(refused.errors)")
    #expect(refused.errors.contains("ben@test"), "\(refused.errors)")
    #expect(try revision() == theirs)
    #expect(try company.run("update", project, "weight=7", "--if-revision", theirs, author: "zoe@test").status == 0)
    #expect(try company.run("update", project, "weight=8", "--if-revision", "0").status == 64)
    #expect(try company.run("update", project, "weight=8", "--if-unchanged", "weight").status == 64)
  }

  @Test func preconditionNamesSingleProperties() throws {
    func revision() throws -> String {
      String(try #require(try company.run("show", project, "--json").json()["revision"]?.integerValue))
    }
    let read = try revision()
    #expect(try company.run("update", project, "plan=another", author: "ben@test").status == 0)
    func update(_ names: String) throws -> Daemon.Result {
      try company.run(
        "update", project, "weight=6", "--if-revision", read, "--if-unchanged", names, author: "zoe@test")
    }
    #expect(try update("weight,plan").status == 2)
    #expect(try update("weight,nothing").status == 64)
    #expect(try update("weight").status == 0)
  }

  @Test func deleteRequiresTheRevisionThatWasRead() throws {
    let read = String(try #require(try company.run("show", project, "--json").json()["revision"]?.integerValue))
    #expect(try company.run("update", project, "weight=6", author: "ben@test").status == 0)
    let refused = try company.run("delete", project, "--if-revision", read, author: "zoe@test")
    #expect(refused.status == 2 && refused.errors.contains("ben@test"), "\(refused.errors)")
    let other = try company.run(
      "delete", project, "--if-revision", read, "--if-unchanged", "weight", author: "zoe@test")
    #expect(other.status == 2, "\(other.errors)")
    let unrelated = try company.run(
      "delete", project, "--if-revision", read, "--if-unchanged", "plan", author: "zoe@test")
    #expect(unrelated.status == 0, "\(unrelated.errors)")
  }

  /// The difference is unknown then, so the save could overwrite unseen changes.
  @Test func updateWithPrunedBaseIsRefused() throws {
    let daemon = company.daemon
    for word in ["five", "six"] { try company.run("update", project, "plan=one two three \(word)", author: "ben@test") }
    #expect(daemon.stop() == 0)
    let compacted = try daemon.stickiesd(
      "compact", "--schema", company.schema, "--keep-commits", "1", "--minimum-retention", "0s")
    #expect(compacted.status == 0, "\(compacted.errors)")
    try daemon.start(["--schema", company.schema])
    for policy in MergePolicy.allCases {
      let refused = try company.run(
        "update", project, "plan=mine", "title=Other", "--base", read, "--policy", "\(policy)", author: "zoe@test")
      #expect(refused.status == 4, "\(refused.errors)")
      #expect(
        refused.errors.contains("the text Project.plan at revision \(read) was pruned"), "\(refused.errors)")
    }
    #expect(try plan() == "one two three six")
    // Any other type is compared as a whole value.
    let saved = try company.run("update", project, "title=Other", "--base", read, author: "zoe@test")
    #expect(saved.status == 0, "\(saved.errors)")
  }
}
