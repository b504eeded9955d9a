import GraphModel
import Testing

@Suite struct KnownInsertTests {
  /// Lines that are inserted again every hour leave no commits behind, and one new value makes one.
  @Test(arguments: ["storeTrump", "objectTrump", "rollback"]) func knownInsertMakesNoCommit(policy: String) throws {
    let company = try CompanyDaemon()
    let department = try company.department()
    func line(_ name: String, _ days: Int) -> String {
      let email = name.lowercased() + "@x.example"
      return "{\"name\":\"\(name)\",\"email\":\"\(email)\",\"hired\":\"2020-01-01\","
        + "\"department\":\"\(department)\",\"vacationDays\":\(days)}\n"
    }
    func revision() throws -> JSON? { try company.daemon.run("status", "--json").json()["revision"] }
    func insert(_ lines: String) throws -> String {
      try company.daemon.run("graph", "insert", "Person", "-", "--policy", policy, input: lines).output
    }
    let lines = line("Ann", 25) + line("Ben", 26)
    #expect(try insert(lines) == "inserted or met 2 objects in 1 commit\n")
    let before = try revision()
    #expect(try insert(lines) == "inserted or met 2 objects in 0 commits\n")
    let one = try company.run("insert", "Person", "--values", line("Ann", 25), "--policy", policy)
    #expect(one.status == 0 && one.output.contains("Ann"), "\(one.output)\(one.errors)")
    #expect(try revision() == before)
    #expect(try insert(lines + line("Cy", 27)) == "inserted or met 3 objects in 1 commit\n")
    #expect(try revision() != before)
    #expect(company.daemon.stop() == 0)
  }
}
