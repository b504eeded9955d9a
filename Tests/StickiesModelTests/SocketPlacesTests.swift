import Foundation
import GraphTesting
import GraphWire
import Testing

@testable import StickiesModel

/// The places of the default sockets: every start of a daemon and every client of one user have one in common.
@Suite struct SocketPlacesTests {
  private let root: TemporaryDirectory
  private let account: UserAccount

  init() throws {
    root = try TemporaryDirectory()
    for name in ["home", "runtime", "users/\(geteuid())", "tmp"] {
      try FileManager.default.createDirectory(
        atPath: root.path + "/" + name, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    var account = UserAccount(user: geteuid(), home: root.path + "/home")
    account.runtimeDirectories = root.path + "/users"
    account.temporaryDirectory = root.path + "/tmp"
    self.account = account
  }

  private func environment(_ variables: [String: String], _ account: UserAccount? = nil) -> ProcessEnvironment {
    ProcessEnvironment(variables: variables, account: account ?? self.account)
  }

  private func names(_ places: [SocketDirectory]) -> [String] {
    places.map { $0.directory.replacing(root.path + "/", with: "").replacing("\(geteuid())", with: "UID") }
  }

  private static let usual = ["users/UID/stickies", "home/.local/share/stickies"]

  @Test func runtimeDirectoryIsFirstAndTemporaryOneLast() {
    let variables = ["HOME": root.path + "/home", "XDG_RUNTIME_DIR": root.path + "/runtime"]
    #expect(
      names(environment(variables).socketPlaces) == ["runtime/stickies"] + Self.usual + ["tmp/stickies-UID"])
    #expect(names(environment(variables).listeningPlaces) == ["runtime/stickies"] + Self.usual)
    #expect(environment(variables).defaultSocket == .unix(path: root.path + "/runtime/stickies/socket"))
  }

  @Test func homeDirectoryIsFoundInEveryEnvironment() {
    let home = root.path + "/home"
    for variables in [
      [:], ["HOME": home], ["HOME": "/proc/nonexistent"], ["HOME": home, "XDG_RUNTIME_DIR": "relative"],
      ["HOME": home, "XDG_DATA_HOME": root.path + "/data"], ["XDG_RUNTIME_DIR": root.path + "/runtime"],
    ] {
      let environment = environment(variables)
      #expect(names(environment.listeningPlaces).contains("home/.local/share/stickies"), "\(variables)")
      #expect(names(environment.socketPlaces).contains("home/.local/share/stickies"), "\(variables)")
    }
  }

  @Test func directoriesOfOtherUsersAreUnchanged() {
    var other = account
    other.user = geteuid() + 1
    let variables = ["HOME": root.path + "/home", "XDG_RUNTIME_DIR": root.path + "/runtime"]
    let environment = environment(variables, other)
    #expect(!names(environment.socketPlaces).contains("runtime/stickies"))
    #expect(environment.listeningPlaces.isEmpty, "they belong to this user, not to that one")
  }

  @Test func userWithoutHomeUsesTemporaryDirectory() {
    var homeless = account
    homeless.home = "/nonexistent"
    homeless.runtimeDirectories = "/nonexistent"
    let environment = environment(["HOME": "/proc/nonexistent"], homeless)
    #expect(names(environment.listeningPlaces) == ["tmp/stickies-UID"])
    #expect(names(environment.socketPlaces).last == "tmp/stickies-UID")
  }

  @Test func directoryWritableByOthersIsNotUsed() throws {
    let place = SocketDirectory(directory: root.path + "/tmp/stickies-x", user: geteuid())
    #expect(place.prepare())
    #expect(!place.hasSocket)
    let socket = try PlainSocket.listen(at: place.address)
    defer { close(socket) }
    #expect(place.hasSocket)
    chmod(place.directory, 0o777)
    #expect(!place.isSafe && !place.hasSocket && !place.prepare())
    chmod(place.directory, 0o700)
    #expect(!SocketDirectory(directory: place.directory, user: geteuid() + 1).hasSocket)
  }

  @Test func tooLongSocketPathIsNotUsed() {
    let long = "/" + String(repeating: "x", count: 100)
    #expect(
      !environment(["HOME": root.path + "/home", "XDG_DATA_HOME": long]).socketPlaces.contains {
        $0.directory.hasPrefix(long)
      })
  }
}
