import Foundation
#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif
import GraphModel
import GraphTesting
import GraphWire
import StickiesKit
import Testing

/// `stickies doctor`: the test causes each of the usual problems.
@Suite struct DoctorTests {
  private struct Diagnosis {
    let status: Int32
    let findings: [String: JSON]

    func state(_ check: String) -> String { findings[check]?["state"]?.stringValue ?? "missing" }
    func message(_ check: String) -> String { findings[check]?["message"]?.stringValue ?? "" }
    func mend(_ check: String) -> String { findings[check]?["mend"]?.stringValue ?? "" }
  }

  /// The environment is complete, because the user who runs the tests has another one.
  private static func diagnose(
    _ home: String, _ server: String?, _ more: [String: String] = [:], through wrapper: [String] = []
  ) throws -> Diagnosis {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = wrapper + [Daemon.binary("stickies").path, "doctor", "--json"]
    var environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": home,
      "XDG_RUNTIME_DIR": home + "/run",
      "TERM": "xterm-256color", "LANG": "C.UTF-8",
    ]
    if let library = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] { environment["LD_LIBRARY_PATH"] = library }
    if let server { environment["STICKIES_SERVER"] = server }
    process.environment = environment.merging(more) { $1 }
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: bytes, as: UTF8.self)
    let json = try JSON(parsing: text.trimmingCharacters(in: .newlines))
    let findings = try #require(json["findings"]?.arrayValue)
    #expect(json["problems"]?.integerValue == Int64(findings.count { $0["state"] == .string("problem") }))
    for finding in findings {
      #expect((finding["state"] == .string("fine")) == (finding["mend"] == nil), "\(finding.text)")
    }
    let named = findings.map { ($0["check"]?.stringValue ?? "", $0) }
    return Diagnosis(status: process.terminationStatus, findings: Dictionary(uniqueKeysWithValues: named))
  }

  @Test func healthyDaemonHasNoProblem() throws {
    let daemon = try Daemon()
    try daemon.start()
    try daemon.run("add", "one")
    let found = try Self.diagnose(daemon.home.path, daemon.socket.description)
    #expect(found.status == 0)
    for check in ["address", "daemon", "encryption", "version", "model", "store", "disk", "clock", "colors", "letters"]
    {
      // The disk of the machine that runs the tests may be nearly full.
      #expect(found.state(check) == "fine" || check == "disk", "\(check): \(found.message(check))")
    }
    #expect(found.message("address") == "\(daemon.socket), from STICKIES_SERVER")
    #expect(found.message("disk").contains(daemon.data))
    let reported = try daemon.run("doctor")
    #expect(reported.lines.first == "fine     address    \(daemon.socket), from STICKIES_SERVER")
    #expect(reported.lines.last == "no problem found")
    #expect(daemon.stop() == 0)
  }

  @Test func missingDaemonIsReportedWithAdvice() throws {
    let daemon = try Daemon()
    let none = try Self.diagnose(daemon.home.path, daemon.socket.description)
    #expect(none.status == 69)
    #expect(none.message("daemon") == "there is no socket \(daemon.home.path)/socket")
    #expect(none.mend("daemon") == "start a daemon: stickiesd --listen \(daemon.socket)")
    #expect(none.state("disk") != "missing")

    // The wrong address, while a daemon listens at the default one.
    let run = daemon.home.path + "/run/stickies"
    try FileManager.default.createDirectory(
      atPath: run, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try daemon.start(["--listen", "unix://\(run)/socket"])
    let wrong = try Self.diagnose(daemon.home.path, "unix://\(daemon.home.path)/other")
    #expect(wrong.status == 69)
    #expect(wrong.mend("daemon").contains("--server unix://\(run)/socket"))
    #expect(daemon.stop() == 0)
    let closed = try Self.diagnose(daemon.home.path, "tcp://127.0.0.1:1")
    #expect(closed.message("daemon") == "no program listens at tcp://127.0.0.1:1: Connection refused")
  }

  @Test func suspendedDaemonIsReportedAsUnresponsive() throws {
    let daemon = try Daemon()
    try daemon.start()
    let process = daemon.process.processIdentifier
    kill(process, SIGSTOP)
    let still = try Self.diagnose(daemon.home.path, daemon.socket.description)
    kill(process, SIGCONT)
    #expect(still.status == 69)
    #expect(still.message("daemon").hasPrefix("process \(process) ("), "\(still.message("daemon"))")
    #expect(still.message("daemon").contains("is suspended and does not answer"))
    #expect(still.mend("daemon").hasPrefix("resume it with kill -CONT \(process)"))
    let unknown = try Self.diagnose(daemon.home.path, "tcp://nobody.invalid:7417")
    #expect(
      unknown.message("daemon") == "no program listens at tcp://nobody.invalid:7417: there is no host of that name")
    #expect(unknown.mend("daemon").hasPrefix("check the name and the port"))
    #expect(daemon.stop() == 0)
  }

  /// A program that accepts no connection is none that has ended: no other daemon can be started there.
  @Test func fullBacklogIsNoMissingDaemon() throws {
    let daemon = try Daemon()
    let address = ServerAddress.unix(path: daemon.home.path + "/full")
    var descriptors = [try PlainSocket.listen(at: address)]
    defer { for descriptor in descriptors { close(descriptor) } }
    // The kernel keeps one connection more than the listener's eight.
    for _ in 0...8 { descriptors.append(try PlainSocket.connect(to: address)) }
    let place = ["XDG_DATA_HOME": daemon.home.path]
    let list = try daemon.run("list", server: address.description, environment: place)
    #expect(list.status == 69)
    #expect(list.errors.contains("a program listens at \(address) and accepts no connection now"), "\(list.errors)")
    let full = try Self.diagnose(daemon.home.path, address.description)
    #expect(full.status == 69)
    #expect(full.message("daemon") == "a program listens at \(address) and accepts no connection now")
    #expect(full.mend("daemon").hasPrefix("try again later"))
  }

  @Test func staleSocketIsDistinguishedFromMissingOne() throws {
    let daemon = try Daemon()
    try daemon.start()
    daemon.kill()
    let old = try Self.diagnose(daemon.home.path, daemon.socket.description)
    #expect(old.status == 69)
    #expect(
      old.message("daemon") == "the socket \(daemon.home.path)/socket is stale: the daemon that created it has ended")
    #expect(old.mend("daemon").hasPrefix("start the daemon again"))
    try daemon.start()
    #expect(try Self.diagnose(daemon.home.path, daemon.socket.description).status == 0)
    #expect(daemon.stop() == 0)

    let file = daemon.home.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let plain = try Self.diagnose(daemon.home.path, "unix://" + file)
    #expect(plain.message("daemon") == "\(file) is a file, not a socket")
    let folder = try Self.diagnose(daemon.home.path, "unix://" + daemon.home.path)
    #expect(folder.message("daemon") == "\(daemon.home.path) is a folder, not a socket")
    let link = daemon.home.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: daemon.home.path + "/missing")
    let dangling = try Self.diagnose(daemon.home.path, "unix://" + link)
    #expect(dangling.message("daemon") == "\(link) is a link to nothing")
    #expect(dangling.mend("daemon") == "remove it, or give another address")
  }

  @Test func invalidAddressIsReported() throws {
    let home = try TemporaryDirectory()
    let found = try Self.diagnose(home.path, "localhost")
    #expect(found.status == 1)
    #expect(found.state("address") == "problem")
    #expect(found.message("address").hasPrefix("STICKIES_SERVER: "))
  }

  @Test func webServerIsNotReportedAsDaemon() throws {
    let home = try TemporaryDirectory()
    let server = Process()
    server.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    server.arguments = [
      "python3", "-u", "-c",
      """
      import http.server
      server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
      print(server.server_address[1])
      server.serve_forever()
      """,
    ]
    server.currentDirectoryURL = URL(fileURLWithPath: home.path)
    let output = Pipe()
    server.standardOutput = output
    server.standardError = FileHandle.nullDevice
    try server.run()
    defer { kill(server.processIdentifier, SIGKILL) }
    let port = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self).trimmingCharacters(
      in: .newlines)
    let found = try Self.diagnose(home.path, "tcp://127.0.0.1:\(port)")
    #expect(found.status == 69)
    #expect(found.message("daemon").hasPrefix("a web server listens there: "), "\(found.message("daemon"))")
  }

  @Test func otherVersionAndOtherModelAreWarnings() throws {
    let home = try TemporaryDirectory()
    let model = StickiesModel.model
    let welcome = Welcome(
      model: model, head: Token(store: UniqueID(high: 1, low: 1), revision: 0, fingerprint: 0), session: 1,
      server: "stickiesd 9.9.9", resumed: false, maximumFrameSize: 1 << 20, heartbeatMilliseconds: 15_000,
      principal: "ann", role: .editor)
    // The first connection is the probe's, which sends nothing.
    let server = try ScriptedServer(
      [ToClient(1, .welcome(welcome)), ToClient(2, .model(source: model.source, hash: model.hash))], connection: 2)
    let other = try Self.diagnose(home.path, server.address.description)
    #expect(other.state("version") == "warning")
    #expect(other.message("version") == "this is stickies \(Stickies.version), the daemon is stickiesd 9.9.9")
    // The server is scripted not to answer further messages.
    #expect(other.state("store") == "problem")

    let company = try CompanyDaemon()
    let found = try Self.diagnose(company.daemon.home.path, company.daemon.socket.description)
    #expect(found.status == 0)
    #expect(found.message("model") == "the daemon serves Company 1, which has no notes")
    #expect(company.daemon.stop() == 0)
  }

  @Test func incompatibleModelIsAProblem() throws {
    let daemon = try Daemon()
    let schema = daemon.home.path + "/Other"
    try FileManager.default.copyItem(atPath: Fixtures.root + "/Schema/Stickies", toPath: schema)
    let other = StickiesModel.model.source.replacing(
      #""name": "text""#, with: #""name": "mood", "type": "string", "optional": true}, {"name": "text""#,
      maxReplacements: 1)
    let version = StickiesModel.model.version
    try other.write(toFile: schema + "/\(version).json", atomically: true, encoding: .utf8)
    try daemon.start(["--schema", schema])
    let found = try Self.diagnose(daemon.home.path, daemon.socket.description)
    #expect(found.status == 1)
    #expect(found.state("model") == "problem")
    #expect(
      found.message("model")
        == "the daemon serves another version \(version) of the notes' model than this program has")
    #expect(found.mend("model").hasPrefix("use stickies graph"))
    #expect(try daemon.run("list").status != 0)
    #expect(daemon.stop() == 0)
  }

  @Test func fullDiskIsAProblem() throws {
    let home = try TemporaryDirectory()
    // A small disk of its own, invisible to other processes.
    let script = "mount -t tmpfs -o size=64k none \"$HOME\" && exec \"$@\""
    let found = try Self.diagnose(
      home.path, nil, ["XDG_DATA_HOME": home.path], through: ["unshare", "-rm", "sh", "-c", script, "sh"])
    #expect(found.state("disk") == "problem")
    #expect(found.message("disk") == "the disk is full: 0 MiB are free on the disk of \(home.path)/stickies")
    #expect(found.mend("disk").contains("free some space"))
  }

  @Test func terminalWithoutColorsOrUnicodeIsReported() throws {
    let home = try TemporaryDirectory()
    let dumb = try Self.diagnose(home.path, nil, ["TERM": "dumb", "LANG": "C"])
    #expect(dumb.state("colors") == "warning")
    #expect(dumb.message("letters") == "the locale is C, which is not UTF-8")
    #expect(dumb.mend("letters") == "export LANG=C.UTF-8")
    let both = try Self.diagnose(home.path, nil, ["NO_COLOR": "1", "TERM": "dumb"])
    #expect(both.state("colors") == "warning")
    let plain = try Self.diagnose(home.path, nil, ["NO_COLOR": "1", "TERM": "xterm-256color", "LC_ALL": "de_DE.utf8"])
    #expect(plain.message("colors") == "off: NO_COLOR is set")
    #expect(plain.state("letters") == "fine")
  }
}
