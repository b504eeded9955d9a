/// Examples at the end of a command's help: lines that can be typed.
enum CommandExamples {
  /// The examples, keyed by the words of the command.
  static let lines: [String: [String]] = [
    "": ["open", "add \"Call Ann\" --tag phone", "watch"], "board": ["board add Work", "board list"],
    "graph": ["graph entities", "graph fetch Note --where 'pinned == TRUE'"],
    "add": ["add \"Call Ann\" --tag phone --color pink --position -40,120"], "list": ["list --where 'pinned == TRUE'"],
    "show": ["show 2", "show 2 --at yesterday"], "edit": ["edit 1 --text \"hello world\""], "move": ["move 1 -10,20"],
    "resize": ["resize 1 300x150"], "color": ["color 1 blue"], "raise": ["raise 1"], "lower": ["lower 1"],
    "tag": ["tag 1 phone urgent"], "untag": ["untag 1 urgent"], "link": ["link 1 2 --label see"],
    "unlink": ["unlink 1 2"], "delete": ["delete 3"], "board list": ["board list"],
    "board add": ["board add Work --color teal"], "board rename": ["board rename Work Office"],
    "board delete": ["board delete Office --yes"], "search": ["search milk"],
    "watch": ["watch", "watch --where 'color == \"pink\"' --since 5"],
    "wait": ["wait 7 --where 'color == \"green\"' --timeout 10m", "wait --revision 31"],
    "log": ["log --limit 2", "log --author anna --since '2026-11-21T14:00:00Z'"], "undo": ["undo", "undo 51"],
    "redo": ["redo"], "restore": ["restore 3", "restore --all --at 40 --yes"], "why": ["why 1.text"],
    "diff": ["diff 5", "diff '#1' 5 9"], "follow": ["follow --since 0 --until-now"],
    "import": ["import ~/Takeout/Keep"],
    "export": ["export", "export --board Notes --to notes"], "sync-folder": ["sync-folder notes"],
    "open": ["open", "open Work"], "status": ["status --json"],
    "doctor": ["doctor", "doctor --server tcp://127.0.0.1:7417"],
    "login": ["login --server tcp://127.0.0.1:7417 < /dev/null"], "logout": ["logout"], "whoami": ["whoami --json"],
    "completion": ["completion bash"], "graph entities": ["graph entities Person"],
    "graph fetch": ["graph fetch Person --where 'department.code == \"ENG\"' --sort name --properties name,hired"],
    "graph show": ["graph show kx4a90qz"], "graph insert": ["graph insert Department code=ENG"],
    "graph update": [
      "graph update kx4a90qz name=Anna --base 7", "graph update kx4a90qz --place steps=ra1b:first",
      "graph update Person --where 'remote == TRUE' --one-commit --set 'vacationDays=vacationDays + 1'",
    ],
    "graph delete": ["graph delete kx4a90qz", "graph delete Person --where 'vacationDays == 0'"],
    "graph watch": ["graph watch Person --sort name --limit 20"],
    "graph wait": ["graph wait Person --where 'name == \"Ann\"' --timeout 30s"], "graph log": ["graph log --limit 2"],
    "graph undo": ["graph undo"], "graph redo": ["graph redo"], "graph restore": ["graph restore kx4a90qz"],
    "graph why": ["graph why kx4a90qz.name"], "graph diff": ["graph diff 5"],
    "graph follow": ["graph follow --since 0 --until-now"], "graph export": ["graph export all.jsonl --replace"],
    "graph import": ["graph import all.jsonl", "graph import --core-data App.sqlite"],
  ]
}
