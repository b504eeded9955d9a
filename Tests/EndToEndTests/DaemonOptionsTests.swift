import Foundation
import GraphTesting
import Testing

/// The sources of the daemon's options: a flag, else the environment, else the configuration file, else the default.
@Suite struct DaemonOptionsTests {
  /// A temporary home directory, without files of the user.
  private struct TestHome {
    let directory: TemporaryDirectory
    var path: String { directory.path }

    init() throws { directory = try TemporaryDirectory() }

    func write(_ text: String, to name: String = ".config/stickies/stickiesd.json") throws {
      let file = URL(fileURLWithPath: path + "/" + name)
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }

    func process(_ arguments: [String], _ variables: [String: String]) -> Process {
      let process = Process()
      process.executableURL = Daemon.binary("stickiesd")
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment
        .filter { !$0.key.hasPrefix("STICKIES") && !$0.key.hasPrefix("XDG_") }
        .merging(["HOME": path]) { $1 }.merging(variables) { $1 }
      process.currentDirectoryURL = URL(fileURLWithPath: path)
      process.standardInput = FileHandle.nullDevice
      return process
    }

    /// The addresses at which a daemon with these options listens; the daemon is ended.
    func listening(_ arguments: [String] = [], _ variables: [String: String] = [:], addresses: Int = 1) throws
      -> [String]
    {
      let process = process(arguments, variables)
      let output = Pipe()
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      defer {
        process.terminate()
        process.waitUntilExit()
      }
      var lines = [String]()
      var text = ""
      while lines.count < addresses {
        let bytes = output.fileHandleForReading.availableData
        if bytes.isEmpty { break }
        text += String(decoding: bytes, as: UTF8.self)
        lines = text.split(separator: "\n").map { String($0.dropFirst("listening ".count)) }
      }
      return lines
    }

    /// The exit of a daemon that can't start with these options.
    func refusal(_ arguments: [String] = [], _ variables: [String: String] = [:]) throws -> (
      status: Int32, text: String
    ) {
      let result = try process(arguments, variables).result()
      return (result.status, result.errors)
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

    func mode(_ name: String) -> mode_t {
      var status = stat()
      return stat(path + "/" + name, &status) == 0 ? status.st_mode & 0o777 : 0
    }
  }

  @Test func daemonRunsWithEnvironmentAlone() throws {
    let home = try TestHome()
    let variables = [
      "STICKIESD_DATA": "\(home.path)/data", "STICKIESD_LISTEN": "unix://\(home.path)/a, unix://\(home.path)/b",
      "STICKIESD_SCHEMA": Fixtures.root + "/Schema/Stickies", "STICKIESD_LOG_LEVEL": "error",
    ]
    #expect(
      try home.listening([], variables, addresses: 2) == ["unix://\(home.path)/a", "unix://\(home.path)/b"])
    #expect(home.has("data/graph.sqlite"))
  }

  @Test func invalidUsageIsReportedWithCorrectUsage() throws {
    let home = try TestHome()
    let json = try home.refusal(["compact", "--keep-commits", "0", "--json"], [:])
    #expect(json.status == 64)
    #expect(json.text == #"{"error":{"code":"usage","message":"--keep-commits must be at least 1"}}"# + "\n")
    let unknown = try home.refusal(["chek"], [:])
    #expect(
      unknown.status == 64
        && unknown.text.hasPrefix("stickiesd: there is no command \"chek\"; the commands are serve, check"))
  }

  @Test func daemonRunsWithConfigurationFileAlone() throws {
    let home = try TestHome()
    try home.write(
      #"{"data": "\#(home.path)/data", "listen": ["unix://\#(home.path)/a"], "logLevel": "error"}"#)
    #expect(try home.listening() == ["unix://\(home.path)/a"])
    #expect(home.has("data/graph.sqlite"))
    try home.write(#"{"data": "other", "listen": ["unix://\#(home.path)/b"]}"#, to: "mine.json")
    #expect(try home.listening(["--config", "mine.json"]) == ["unix://\(home.path)/b"])
    #expect(home.has("other/graph.sqlite"))
  }

  @Test func flagOverridesVariableAndVariableOverridesFile() throws {
    let home = try TestHome()
    try home.write(#"{"data": "of-file", "listen": ["unix://\#(home.path)/of-file.socket"]}"#)
    let variables = ["STICKIESD_DATA": "of-variable", "STICKIESD_LISTEN": "unix://\(home.path)/of-variable.socket"]
    #expect(
      try home.listening(["--data", "of-flag", "--listen", "unix://\(home.path)/of-flag.socket"], variables) == [
        "unix://\(home.path)/of-flag.socket"
      ])
    #expect(home.has("of-flag/graph.sqlite") && !home.has("of-variable") && !home.has("of-file"))
    #expect(try home.listening([], variables) == ["unix://\(home.path)/of-variable.socket"])
    #expect(home.has("of-variable/graph.sqlite") && !home.has("of-file"))
    // An empty variable counts as missing.
    #expect(
      try home.listening([], ["STICKIESD_DATA": "", "STICKIESD_LISTEN": ""]) == [
        "unix://\(home.path)/of-file.socket"
      ])
    #expect(home.has("of-file/graph.sqlite"))
  }

  @Test func checkUsesTheStoreOfServe() throws {
    let home = try TestHome()
    try home.write(#"{"data": "notes", "listen": ["unix://\#(home.path)/a"]}"#)
    #expect(try home.listening().count == 1)
    let sound = try home.refusal(["check"])
    #expect(sound.status == 0, "\(sound.text)")
    let elsewhere = try home.refusal(["check"], ["STICKIESD_DATA": "nowhere/at-all"])
    #expect(elsewhere.status == 1)
    #expect(elsewhere.text.contains("nowhere/at-all"))
  }

  @Test func allErrorsOfConfigurationFileAreReported() throws {
    let home = try TestHome()
    try home.write(#"{"dta": "x", "data": 5, "listen": "tcp://127.0.0.1:0", "logLevel": "loud"}"#, to: "bad.json")
    let refusal = try home.refusal(["--config", "bad.json"])
    #expect(refusal.status == 64)
    let lines = refusal.text.split(separator: "\n").map(String.init)
    #expect(lines.count == 4)
    #expect(
      lines[0] == #"stickiesd: bad.json: "dta" is not an option; the options are data, schema, listen, logLevel, "#
        + "searchSeconds, keepHistory, minimumRetention, pruneEvery, certificate, key, insecure, http, publicURL, "
        + "metrics")
    #expect(lines[1] == #"bad.json: "data" is 5; it must be a string, the data directory"#)
    #expect(
      lines[2]
        == #"bad.json: "listen" is "tcp://127.0.0.1:0"; it must be a list of addresses, each tcp://HOST:PORT, tls://HOST:PORT or unix:///PATH"#
    )
    #expect(lines[3].hasPrefix(#"bad.json: "logLevel" is "loud"; it must be one of trace, debug, info"#))
    #expect(!home.has("x"))
  }

  @Test func missingOrInvalidConfigurationFileIsRefused() throws {
    let home = try TestHome()
    try home.write("{\"data\": \n", to: "broken.json")
    let broken = try home.refusal(["--config", "broken.json"])
    #expect(broken.status == 64)
    #expect(broken.text.hasPrefix("stickiesd: broken.json: line 2, column 1: "))
    try home.write("[]", to: "list.json")
    #expect(try home.refusal(["check", "--config", "list.json"]).text.contains("an object with options is expected"))
    let missing = try home.refusal(["--config", "missing.json"])
    #expect(missing.status == 64)
    #expect(
      missing.text == "stickiesd: the configuration file missing.json can't be read (No such file or directory)\n")
  }

  @Test func invalidOrMismatchedModelFileIsRefused() throws {
    let home = try TestHome()
    let entities = #""entities": [{"name": "A", "attributes": [{"name": "n", "type": "integer"}]}]"#
    try home.write(#"{"format": 1, "name": "M", "version": 1, \#(entities)}"#, to: "M/1.json")
    try home.write(#"{"format": 1, "name": "M", "version": 1, \#(entities)}"#, to: "M/2.json")
    let listen = ["--data", "data", "--listen", "tcp://127.0.0.1:0"]
    let other = try home.refusal(["--schema", "M"] + listen)
    #expect(other.status == 1)
    #expect(other.text.hasPrefix("stickiesd: the model M/2.json says that it is version 1. "), "\(other.text)")
    try home.write(#"{"format": 1, "name": "M", "version": 2, "entities": 3, "more": 4}"#, to: "M/2.json")
    let wrong = try home.refusal(["--schema", "M"] + listen)
    #expect(wrong.status == 1)
    let lines = wrong.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    try #require(lines.count == 5, "\(wrong.text)")
    #expect(lines[0] == "stickiesd: the model M/2.json has 2 mistakes:")
    #expect(Set(lines[1...2].map { $0.prefix { $0 != ":" } }) == ["entities", "more"])
    #expect(lines[3...] == ["docs/model-format.md describes the format.", ""])
    #expect(!home.has("data"))
    try home.write(#"{"format": 1, "name": "M", "version": 2, \#(entities)}"#, to: "M/2.json")
    #expect(try home.listening(["--schema", "M"] + listen).count == 1)
  }

  @Test func fileWithoutVersionNameIsNotAModelVersion() throws {
    let home = try TestHome()
    let model = #"{"format": 1, "name": "M", "version": 1, "entities": [{"name": "A"}]}"#
    for name in ["01.json", "+1.json", "1.JSON", "1.json.bak"] { try home.write(model, to: "M/\(name)") }
    let listen = ["--schema", "M", "--data", "data", "--listen", "tcp://127.0.0.1:0"]
    let unknown = try home.refusal(["--schema", "N"])
    #expect(unknown.text.hasPrefix("stickiesd: the folder N does not exist or can't be read. "), "\(unknown.text)")
    let none = try home.refusal(listen)
    #expect(none.status == 1)
    #expect(none.text.hasPrefix("stickiesd: the folder M holds no model file. "), "\(none.text)")
    try home.write(model, to: "M/1.json")
    #expect(try home.listening(listen).count == 1)
  }

  /// The version equals the previous one, so nothing would be done.
  @Test(arguments: [
    (#""mapping": {"A.n": "n * 2"},"#, "", "has a mapping"),
    ("", #", "renamed": "m""#, "renames entities or properties"),
  ])
  func versionWithUncomputableValuesIsRefused(mapping: String, renamed: String, words: String) throws {
    let home = try TestHome()
    func model(_ version: Int, _ mapping: String, _ renamed: String) -> String {
      let back = renamed.replacing("\"m\"", with: "\"n\"")
      return """
        {"format": 1, "name": "M", "version": \(version), \(mapping) "entities": [{"name": "A", "attributes": [
          {"name": "n", "type": "integer"\(renamed)}, {"name": "m", "type": "integer"\(back)}]}]}
        """
    }
    try home.write(model(1, "", ""), to: "M/1.json")
    try home.write(model(2, mapping, renamed), to: "M/2.json")
    for command in [[], ["migrate", "--dry-run"]] {
      let refusal = try home.refusal(command + ["--schema", "M", "--data", "data"])
      #expect(refusal.status == 1)
      #expect(refusal.text.hasPrefix("stickiesd: the model M/2.json \(words), "), "\(refusal.text)")
    }
  }

  @Test func invalidVariableIsReportedByName() throws {
    let home = try TestHome()
    let address = try home.refusal([], ["STICKIESD_LISTEN": "localhost:7417"])
    #expect(address.status == 64)
    #expect(address.text.hasPrefix("stickiesd: STICKIESD_LISTEN: \"localhost:7417\" is not an address"))
    let level = try home.refusal([], ["STICKIESD_LOG_LEVEL": "loud"])
    #expect(level.status == 64)
    #expect(level.text.hasPrefix("stickiesd: STICKIESD_LOG_LEVEL: \"loud\" is not a level"))
  }

  @Test func searchLimitIsBetweenOneSecondAndOneDay() throws {
    let home = try TestHome()
    let listen = ["--data", "data", "--listen", "tcp://127.0.0.1:0"]
    let expected = "number of seconds, 1 to 86400"
    for seconds in ["1", "86400"] {
      try home.write("{\"searchSeconds\": \(seconds)}", to: "good.json")
      #expect(try home.listening(listen + ["--search-seconds", seconds]).count == 1)
      #expect(try home.listening(listen, ["STICKIESD_SEARCH_SECONDS": seconds]).count == 1)
      #expect(try home.listening(listen + ["--config", "good.json"]).count == 1)
    }
    for seconds in ["0", "86401"] {
      try home.write("{\"searchSeconds\": \(seconds)}", to: "bad.json")
      let flag = try home.refusal(listen + ["--search-seconds", seconds])
      #expect(flag.status == 64)
      #expect(flag.text == "stickiesd: --search-seconds: \(seconds); it must be a \(expected)\n")
      let variable = try home.refusal(listen, ["STICKIESD_SEARCH_SECONDS": seconds])
      #expect(variable.status == 64)
      #expect(variable.text == "stickiesd: STICKIESD_SEARCH_SECONDS: \"\(seconds)\"; it must be a \(expected)\n")
      let file = try home.refusal(listen + ["--config", "bad.json"])
      #expect(file.status == 64)
      #expect(file.text == "stickiesd: bad.json: \"searchSeconds\" is \(seconds); it must be a \(expected)\n")
    }
    let word = try home.refusal(listen, ["STICKIESD_SEARCH_SECONDS": "a minute"])
    #expect(word.status == 64)
    #expect(word.text == "stickiesd: STICKIESD_SEARCH_SECONDS: \"a minute\"; it must be a \(expected)\n")
  }

  @Test func fileInPlaceOfDataDirectoryIsReported() throws {
    let home = try TestHome()
    try home.write("precious", to: "file")
    let refusal = try home.refusal(["--data", "file", "--listen", "tcp://127.0.0.1:0"])
    #expect(refusal.status == 1)
    #expect(
      refusal.text
        == "stickiesd: the data directory file is a file. Give --data a directory; the file was not touched.\n")
    #expect(try String(contentsOfFile: home.path + "/file", encoding: .utf8) == "precious")
  }

  @Test func createdFilesAreAccessibleOnlyToTheirOwner() throws {
    let home = try TestHome()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "umask 0; exec \"$0\" --data data --listen unix://\(home.path)/socket",
      Daemon.binary("stickiesd").path,
    ]
    process.currentDirectoryURL = URL(fileURLWithPath: home.path)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    defer {
      process.terminate()
      process.waitUntilExit()
    }
    #expect(!output.fileHandleForReading.availableData.isEmpty)
    #expect(home.mode("data") == 0o700)
    for name in ["data/graph.sqlite", "data/graph.sqlite-wal", "data/lock", "socket"] {
      #expect(home.mode(name) == 0o600, "\(name)")
    }
  }
}
