import Foundation
import GraphTesting
import Testing

/// A program that opens a graph itself, beside other processes.
@Suite struct EmbeddedProgramTests {
  /// Runs the guide's program on a folder.
  private func run(_ folder: String, umask: String = "077") throws -> Daemon.Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "umask \(umask); exec \"$0\" \"$1\"", Daemon.binary("company-embedded").path, folder,
    ]
    return try process.result()
  }

  @Test func secondRunFindsObjectsOfFirst() throws {
    let directory = try TemporaryDirectory()
    #expect(try run(directory.path + "/graph").status == 0)
    let second = try run(directory.path + "/graph")
    #expect(second.output.hasPrefix("bob sees [\"Bridge 1\"]\nbob sees [\"Bridge 1\", \"Bridge 2\"]\n"), "\(second)")
  }

  @Test func daemonReadsGraphOfProgram() throws {
    let directory = try TemporaryDirectory()
    #expect(try run(directory.path + "/graph").status == 0)
    let check = Process()
    check.executableURL = Daemon.binary("stickiesd")
    check.arguments = ["check", "--data", directory.path + "/graph", "--schema", Fixtures.root + "/Schema/Company"]
    let result = try check.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output == "sound\n")
  }

  @Test func folderOfRunningDaemonIsRefused() throws {
    let company = try CompanyDaemon()
    let result = try run(company.daemon.data)
    #expect(result.status == 1)
    #expect(
      result.output.contains(" is in use by process \(company.daemon.process.processIdentifier). One process opens"),
      "\(result.output)")
    #expect(try company.count("Department") == 0)
  }

  @Test func createdFilesAreAccessibleOnlyToTheirOwner() throws {
    let directory = try TemporaryDirectory()
    let folder = directory.path + "/graph"
    #expect(try run(folder, umask: "0").status == 0)
    func mode(_ path: String) -> mode_t {
      var status = stat()
      return stat(path, &status) == 0 ? status.st_mode : 0
    }
    #expect(mode(folder) & 0o777 == 0o700)
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    #expect(names.contains("graph.sqlite") && names.contains("lock") && names.contains { $0.hasPrefix("log/") })
    for name in names {
      let mode = mode(folder + "/" + name)
      #expect(mode & 0o777 == (mode & S_IFMT == S_IFDIR ? 0o700 : 0o600), "\(name)")
    }
  }
}
