import Foundation
import GraphModel
import GraphTesting
import GraphWire
import Testing

/// The programs over TLS, with a certificate of `stickiesd certificate`.
@Suite(.timeLimit(.minutes(3))) struct EncryptionTests {
  /// A daemon at a TLS address, with the pin of its certificate.
  private final class EncryptedDaemon {
    let daemon: Daemon
    let state: String
    private(set) var pin = ""

    init() throws {
      daemon = try Daemon()
      state = daemon.home.path + "/state"
      pin = try createCertificate()
      try start()
    }

    func start(_ address: String = "tls://127.0.0.1:0") throws { try daemon.start(listen: [address]) }

    var address: String { daemon.listening.first { $0.hasPrefix("tls:") } ?? "" }

    /// - Returns: the hash of the key.
    @discardableResult func createCertificate(_ flags: [String] = []) throws -> String {
      let result = try daemon.stickiesd(["certificate", "--name", "127.0.0.1", "--json"] + flags)
      #expect(result.status == 0, "\(result.errors)")
      return try #require(try result.json()["pin"]?.stringValue)
    }

    func stickies(_ arguments: [String], server: String? = nil) throws -> Daemon.Result {
      try Daemon.run(
        arguments, server: server ?? address, author: "ann@test", input: nil, environment: ["XDG_STATE_HOME": state])
    }

    /// The lines of the daemon's log that contain a text.
    func logLines(_ text: String) -> Int {
      daemon.errorText.split(separator: "\n").count { $0.contains(text) }
    }

    /// Waits for a line of the log.
    func waitForLog(_ text: String, count: Int = 1) async throws {
      // Made before the log is read, so that no line is missed.
      let watch = try FileWatch(daemon.log)
      while logLines(text) < count {
        guard await watch.waitForWrite(seconds: 10) else {
          Issue.record("the log has no \(text):\n\(daemon.errorText)")
          return
        }
      }
    }
  }

  @Test func pinnedServerIsRememberedAndOthersAreRefused() throws {
    let served = try EncryptedDaemon()
    // Standard error is no terminal, so nothing is asked.
    let unknown = try served.stickies(["list"])
    #expect(unknown.status == 76)
    let command = "stickies status --server \(served.address) --pin \(served.pin)"
    #expect(unknown.errors.contains(command), "\(unknown.errors)")
    let json = try served.stickies(["list", "--json"])
    #expect(try JSON(parsing: json.errors)["error"]?["code"] == .string("unknownKey"))
    let wrong = try served.stickies(["list", "--pin", "sha256:" + String(repeating: "0", count: 64)])
    #expect(wrong.status == 76 && wrong.errors.contains("not the pinned"))
    let pinned = try served.stickies(["add", "secret words", "--pin", served.pin])
    #expect(pinned.status == 0, "\(pinned.errors)")
    // The pin was remembered.
    let list = try served.stickies(["list"])
    #expect(list.status == 0 && list.output.contains("secret words"), "\(list.errors)")
    let status = try served.stickies(["status", "--json"]).json()
    #expect(status["transport"] == .string("TLS, the server verified by the known key \(served.pin)"))
    #expect(served.daemon.stop() == 0)
  }

  @Test func userAcceptsKeyAtTerminal() throws {
    let served = try EncryptedDaemon()
    func ask(_ answer: String) throws -> Daemon.Result {
      try PseudoTerminal.run(
        ["list", "--server", served.address], typing: answer, served.daemon,
        environment: ["XDG_STATE_HOME": served.state])
    }
    let refused = try ask("no\n")
    #expect(refused.status == 76 && refused.errors.contains("(yes/no)"), "\(refused.errors)")
    let accepted = try ask("yes\n")
    #expect(accepted.status == 0 && accepted.errors.contains(served.pin), "\(accepted.errors)")
    let known = try ask("")
    #expect(known.status == 0 && !known.errors.contains("(yes/no)"), "\(known.errors)")
    #expect(served.daemon.stop() == 0)
  }

  @Test func certificateItselfIsAnAuthority() throws {
    let served = try EncryptedDaemon()
    let result = try served.stickies(["status", "--ca", served.daemon.data + "/certificate.pem"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("verified by a certificate authority"))
    let missing = try served.stickies(["status", "--ca", "/nonexistent.pem"])
    #expect(missing.status == 76 && missing.errors.contains("/nonexistent.pem"))
    #expect(served.daemon.stop() == 0)
  }

  @Test func createdCertificateIsReadByAnotherImplementation() throws {
    let daemon = try Daemon()
    // The second one ends after 2049, from when on a certificate has times of another type.
    for (days, names) in [(1, ["notes.example.org", "127.0.0.1", "::1"]), (36_500, ["a"])] {
      let flags = names.flatMap { ["--name", $0] } + ["--days", "\(days)", "--replace", "--json"]
      let result = try daemon.stickiesd(["certificate"] + flags)
      #expect(result.status == 0, "\(result.errors)")
      // Its own key has signed it.
      #expect(
        try OpenSSL.run(["verify", "-CAfile", "certificate.pem", "certificate.pem"], in: daemon.data)
          == "certificate.pem: OK\n")
      let text = try OpenSSL.run(
        [
          "x509", "-in", "certificate.pem", "-noout", "-text", "-nameopt", "RFC2253", "-startdate", "-enddate",
          "-dateopt",
          "iso_8601",
        ], in: daemon.data)
      let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      func value(after name: String) throws -> String {
        let line = try #require(lines.first { $0.hasPrefix(name) }, "\(name) in \(text)")
        return line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
      }
      func time(after name: String) throws -> Date {
        let text = try value(after: name).replacing(" ", with: "T")
        return try Date.ISO8601FormatStyle.iso8601.parse(text)
      }
      #expect(try value(after: "Issuer:") == "CN=\(names[0])")
      #expect(try value(after: "Subject:") == "CN=\(names[0])")
      let begin = try time(after: "notBefore=")
      #expect(try time(after: "notAfter=").timeIntervalSince(begin) == Double(days) * 86_400)
      #expect(abs(begin.timeIntervalSinceNow + 3_600) < 60)
      let values = Dictionary(uniqueKeysWithValues: zip(lines, lines.dropFirst()).filter { $0.0.hasPrefix("X509v3 ") })
      #expect(values["X509v3 Basic Constraints: critical"] == "CA:TRUE, pathlen:0")
      #expect(values["X509v3 Key Usage: critical"] == "Digital Signature, Certificate Sign")
      #expect(values["X509v3 Extended Key Usage:"] == "TLS Web Server Authentication")
      #expect(values["X509v3 Subject Alternative Name:"] == names.map(Self.alternative).joined(separator: ", "))
    }
  }

  /// A name as OpenSSL writes it.
  private static func alternative(_ name: String) -> String {
    switch name {
    case "::1": "IP Address:0:0:0:0:0:0:0:1"
    case "127.0.0.1": "IP Address:127.0.0.1"
    default: "DNS:\(name)"
    }
  }

  @Test func changedKeyIsRefusedUntilItIsPinned() async throws {
    let served = try EncryptedDaemon()
    #expect(try served.stickies(["list", "--pin", served.pin]).status == 0)
    let changed = try served.createCertificate(["--replace"])
    // Without SIGHUP: the daemon finds the change.
    try await served.waitForLog("the certificate was replaced")
    let refused = try served.stickies(["list"])
    #expect(refused.status == 76 && refused.errors.contains("has changed"), "\(refused.errors)")
    #expect(try served.stickies(["list", "--pin", changed]).status == 0)
    #expect(try served.stickies(["list"]).status == 0)
    #expect(served.daemon.stop() == 0)
  }

  @Test func brokenCertificateLeavesFormerOneInUse() async throws {
    let served = try EncryptedDaemon()
    try "broken".write(toFile: served.daemon.data + "/certificate.pem", atomically: true, encoding: .utf8)
    try await served.waitForLog("the new certificate can't be used; the former one stays in use")
    #expect(try served.stickies(["list", "--pin", served.pin]).status == 0)
    #expect(served.daemon.stop() == 0)
  }

  @Test func sessionContinuesAcrossReplacementAndKill() async throws {
    let served = try EncryptedDaemon()
    let address = served.address
    #expect(try served.stickies(["add", "one", "--pin", served.pin]).status == 0)
    let watch = Process()
    watch.executableURL = Daemon.binary("stickies")
    watch.arguments = ["watch", "--json", "--server", address]
    watch.environment = ProcessInfo.processInfo.environment.merging(["XDG_STATE_HOME": served.state]) { $1 }
    watch.standardInput = FileHandle.nullDevice
    watch.standardError = FileHandle.nullDevice
    let output = Pipe()
    watch.standardOutput = output
    try watch.run()
    defer { kill(watch.processIdentifier, SIGKILL) }
    var text = ""
    func read(until word: String) throws {
      while !text.contains(word) {
        let bytes = output.fileHandleForReading.availableData
        try #require(!bytes.isEmpty, "the watcher ended")
        text += String(decoding: bytes, as: UTF8.self)
      }
    }
    try read(until: "one")
    // The same key with other files: a renewal.
    let certificate = served.daemon.data + "/certificate.pem"
    let bytes = try Data(contentsOf: URL(fileURLWithPath: certificate))
    try bytes.write(to: URL(fileURLWithPath: certificate), options: .atomic)
    try await served.waitForLog("the certificate was replaced")
    #expect(try served.stickies(["add", "two"]).status == 0)
    try read(until: "two")
    served.daemon.kill()
    try served.start(address)
    #expect(try served.stickies(["add", "three"]).status == 0)
    try read(until: "three")
    #expect(served.daemon.stop() == 0)
  }

  @Test func plainAndEncryptedAddressesAreNotConfused() throws {
    let served = try EncryptedDaemon()
    let plain = try served.stickies(["list"], server: served.address.replacing("tls://", with: "tcp://"))
    #expect(plain.status != 0 && plain.errors.contains("write tls:// instead of tcp://"), "\(plain.errors)")
    let other = try Daemon()
    try other.start()
    let encrypted = try served.stickies(["list"], server: other.tcp.replacing("tcp://", with: "tls://"))
    #expect(encrypted.status == 76 && encrypted.errors.contains("does not encrypt"), "\(encrypted.errors)")
    #expect(other.stop() == 0)
    #expect(served.daemon.stop() == 0)
  }

  @Test func certificateFilesArePrivateAndKept() throws {
    let served = try EncryptedDaemon()
    for name in ["certificate.pem", "key.pem"] {
      var status = stat()
      #expect(stat(served.daemon.data + "/" + name, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
    let again = try served.daemon.stickiesd(["certificate", "--name", "127.0.0.1"])
    #expect(again.status == 1 && again.errors.contains("already exists"))
    let shown = try served.daemon.stickiesd(["certificate", "--show"])
    #expect(shown.output == served.pin + "\n")
    let wrong = try served.daemon.stickiesd(["certificate", "--name", "no host", "--replace"])
    #expect(wrong.status == 64 && wrong.errors.contains("--name"))
    #expect(served.daemon.stop() == 0)
  }

  @Test func daemonRefusesExposedAddresses() throws {
    let daemon = try Daemon()
    func refusal(_ listen: [String], _ flags: [String] = []) throws -> (status: Int32, log: String) {
      do {
        try daemon.start(flags, listen: listen)
        Issue.record("the daemon serves \(listen)")
        return (daemon.stop(), "")
      } catch let exit as Daemon.DaemonExited {
        return (exit.status, exit.log)
      }
    }
    let plain = try refusal(["tcp://0.0.0.0:0"])
    #expect(plain.status == 64 && plain.log.contains("not encrypted") && plain.log.contains("--insecure"))
    let without = try refusal(["tls://127.0.0.1:0"])
    #expect(without.status == 1 && without.log.contains("stickiesd certificate --name"))
    try daemon.start(["--insecure"], listen: ["tcp://0.0.0.0:0"])
    #expect(daemon.errorText.contains("is reachable from other machines and not encrypted"))
    let status = try daemon.run("status", "--json").json()
    #expect(status["exposures"]?[0]?.stringValue?.contains("not encrypted") == true)
    #expect(daemon.stop() == 0)
  }

  @Test func encryptedAddressWithoutAccountsNamesTheirCommands() throws {
    let served = try EncryptedDaemon()
    #expect(served.daemon.stop() == 0)
    do {
      try served.start("tls://0.0.0.0:0")
      Issue.record("the daemon serves every machine without accounts")
    } catch let exit as Daemon.DaemonExited {
      #expect(exit.status == 64)
      #expect(exit.log.contains("stickiesd user add") && exit.log.contains("stickiesd token create"))
    }
  }

  @Test func clientRefusesUnencryptedConnectionToOtherMachine() throws {
    let daemon = try Daemon()
    try daemon.start()
    // The system resolves this form, which the programs do not count as an address of this machine.
    let address = daemon.tcp.replacing("127.0.0.1", with: "127.1")
    let refused = try daemon.run("list", server: address)
    #expect(refused.status == 76 && refused.errors.contains("--insecure"), "\(refused.errors)")
    let allowed = try daemon.run("list", "--insecure", server: address)
    #expect(allowed.status == 0 && allowed.errors.contains("is not encrypted"), "\(allowed.errors)")
    let status = try daemon.run("status", "--insecure", server: address)
    #expect(status.output.contains("TCP without encryption"))
    #expect(daemon.stop() == 0)
  }
}
