import Foundation
import GraphTesting
import Testing

/// The programs' reaction to signals, closed descriptors, a full output and an unreadable command line.
@Suite struct ProcessTests {
  /// Runs a script with the daemon's program, its directory and its socket as arguments.
  private static func python(_ script: String, _ daemon: Daemon) throws -> Daemon.Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c", script, Daemon.binary("stickiesd").path, daemon.data, daemon.socket.description,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": daemon.home.path]) { $1 }
    return try process.result()
  }

  @Test func unusedSignalsAreIgnoredAndLoggedOnce() throws {
    let daemon = try Daemon()
    let result = try Self.python(
      """
      import signal, subprocess, sys
      signal.alarm(60)
      program = [sys.argv[1], "--data", sys.argv[2], "--listen", sys.argv[3]]
      # A session of its own has no terminal.
      daemon = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
      daemon.stdout.readline()
      names = ["SIGHUP", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGVTALRM", "SIGIO", "SIGPWR"]
      log = b""
      for name in names:
        daemon.send_signal(getattr(signal, name))
        for line in daemon.stderr:
          log += line
          if (name + " is ignored").encode() in line: break
        else: sys.exit("no line about " + name)
        daemon.send_signal(getattr(signal, name))
      daemon.send_signal(signal.SIGXFSZ)
      daemon.send_signal(signal.SIGPROF)
      daemon.send_signal(signal.SIGTERM)
      rest = daemon.communicate(timeout=30)[1]
      assert b"is ignored" not in rest, rest
      assert b"the store is closed" in rest, rest
      sys.exit(daemon.returncode)
      """, daemon)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func closedTerminalEndsDaemonGracefullyUnlessNohup() throws {
    let daemon = try Daemon()
    let result = try Self.python(
      """
      import os, pty, signal, subprocess, sys
      log = sys.argv[2] + ".log"
      program = [sys.argv[1], "--data", sys.argv[2], "--listen", sys.argv[3]]
      child, terminal = pty.fork()
      if child == 0:
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT, 0o600), 2)
        os.execv(program[0], program)
      assert b"listening" in os.read(terminal, 4096)
      os.close(terminal)
      status = os.waitpid(child, 0)[1]
      assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0, status
      assert "the store is closed" in open(log).read()
      kept = subprocess.Popen(
        program, stdout=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
      kept.stdout.readline()
      kept.send_signal(signal.SIGHUP)
      kept.send_signal(signal.SIGTERM)
      sys.exit(kept.wait(30))
      """, daemon)
    #expect(result.status == 0, "\(result.errors)")
  }

  @Test func unreadableCommandLineDoesNothing() throws {
    let daemon = try Daemon()
    // Without /proc the command line can't be read.
    let script = "mount -t tmpfs none /proc && exec \"$@\""
    let wrapper = ["unshare", "-rm", "sh", "-c", script, "sh"]
    let result = try daemon.stickiesd("check", through: wrapper)
    #expect(result.status == 64)
    #expect(result.errors.hasPrefix("stickiesd: the command line can't be read"), "\(result.errors)")
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = wrapper + [Daemon.binary("stickies").path, "list"]
    let client = try process.result()
    #expect(client.status == 64)
    #expect(client.errors.hasPrefix("stickies: the command line can't be read"), "\(client.errors)")
    #expect(!FileManager.default.fileExists(atPath: daemon.data))
  }

  /// Runs a program with a redirection of the shell.
  private static func shell(_ program: String, _ arguments: String, _ daemon: Daemon) throws -> Daemon.Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "exec \"$0\" \(arguments)", Daemon.binary(program).path]
    process.environment = ProcessInfo.processInfo.environment.merging([
      "XDG_CONFIG_HOME": daemon.home.path, "STICKIESD_DATA": daemon.data, "STICKIES_SERVER": daemon.socket.description,
    ]) { $1 }
    return try process.result()
  }

  @Test func unwritableOutputIsAFailure() throws {
    let daemon = try Daemon()
    try daemon.start()
    for arguments in ["list --json", "status --json", "--help", "--version", "list --help", "completion bash"] {
      let result = try Self.shell("stickies", arguments + " >/dev/full", daemon)
      #expect(result.status == 1, "\(arguments)")
      #expect(result.errors.contains("standard output: No space left on device"), "\(arguments): \(result.errors)")
    }
    #expect(daemon.stop() == 0)
    for arguments in [
      "check", "check --json", "compact --dry-run", "migrate --dry-run", "backup \(daemon.home.path)/b", "--help",
      "check --help", "--version",
    ] {
      let result = try Self.shell("stickiesd", arguments + " >/dev/full", daemon)
      #expect(result.status == 1, "\(arguments)")
      #expect(result.errors.contains("standard output: No space left on device"), "\(arguments): \(result.errors)")
    }
    let closed = try Self.shell("stickiesd", "check >&-", daemon)
    #expect(closed.status == 1)
    #expect(closed.errors.contains("standard output: Bad file descriptor"), "\(closed.errors)")
  }

  @Test func closedStandardDescriptorsAreReopenedFirst() throws {
    let daemon = try Daemon()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "exec \"$0\" --data \(daemon.data) --listen \(daemon.socket) <&- >&- 2>&-", Daemon.binary("stickiesd").path,
    ]
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CONFIG_HOME": daemon.home.path]) { $1 }
    try process.run()
    defer { kill(process.processIdentifier, SIGKILL) }
    let deadline = ContinuousClock.now + .seconds(20)
    while try daemon.run("status").status != 0, ContinuousClock.now < deadline {}
    #expect(try daemon.run("add", "x").status == 0)
    for descriptor in 0...2 {
      let file = "/proc/\(process.processIdentifier)/fd/\(descriptor)"
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file) == "/dev/null")
    }
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    try daemon.expectSound()
  }

  @Test func connectionsWaitAtDescriptorLimitWhichIsLogged() throws {
    let daemon = try Daemon()
    let result = try Self.python(
      """
      import os, signal, socket, subprocess, sys, time
      signal.alarm(120)
      path = sys.argv[3][len("unix://"):]
      program = ["sh", "-c", 'ulimit -n 100; exec "$0" "$@"', sys.argv[1], "--data", sys.argv[2], "--listen", sys.argv[3]]
      daemon = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
      daemon.stdout.readline()
      # Connections beyond the daemon's own limit are closed by it; none of them may make it spin.
      clients = []
      for _ in range(200):
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        clients.append(client)
      def ticks():
        fields = open(f"/proc/{daemon.pid}/stat").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])
      marks = (b"a connection was refused", b"no connection can be accepted")
      assert any(mark in line for line in daemon.stderr for mark in marks), "the limit was not logged"
      before = ticks()
      # Time itself is the measure: the work of one second.
      time.sleep(1)
      used = ticks() - before
      assert used < os.sysconf("SC_CLK_TCK") // 2, used
      for client in clients: client.close()
      client = socket.socket(socket.AF_UNIX)
      client.settimeout(10)
      client.connect(path)
      daemon.terminate()
      daemon.communicate(timeout=30)
      sys.exit(daemon.returncode)
      """, daemon)
    #expect(result.status == 0, "\(result.errors)")
  }
}
