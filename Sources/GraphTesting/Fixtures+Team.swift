import GraphModel

extension Fixtures {
  /// A model with scopes over several steps, creators and access rules.
  public static func team() throws -> Model { try Model(parsing: teamSource.utf8) }

  /// The source of `team()`.
  public static let teamSource = """
    {"format": 1, "name": "Team", "version": 1, "entities": [
      {"name": "Board", "scope": "self",
       "attributes": [
         {"name": "name", "type": "string", "default": ""},
         {"name": "size", "type": "integer", "derived": "notes.@count"}],
       "relationships": [
         {"name": "notes", "destination": "Note", "inverse": "board", "toMany": true, "deleteRule": "cascade"}]},
      {"name": "Note", "scope": "board",
       "attributes": [
         {"name": "text", "type": "string", "default": ""},
         {"name": "key", "type": "string", "optional": true},
         {"name": "isPrivate", "type": "bool", "default": false},
         {"name": "isLocked", "type": "bool", "default": false},
         {"name": "creator", "type": "string", "assigned": "creator"}],
       "access": {
         "read": "isPrivate == false OR creator == $user",
         "delete": "isLocked == false OR $role == 'owner'",
         "properties": {"isPrivate": "creator == $user"}},
       "relationships": [
         {"name": "board", "destination": "Board", "inverse": "notes"},
         {"name": "outgoing", "destination": "Link", "inverse": "from", "toMany": true, "deleteRule": "cascade"},
         {"name": "incoming", "destination": "Link", "inverse": "to", "toMany": true, "deleteRule": "deny"}],
       "unique": [["key"]]},
      {"name": "Link", "scope": "from",
       "attributes": [
         {"name": "label", "type": "string", "default": ""},
         {"name": "creator", "type": "string", "optional": true, "assigned": "creator"}],
       "relationships": [
         {"name": "from", "destination": "Note", "inverse": "outgoing", "optional": false},
         {"name": "to", "destination": "Note", "inverse": "incoming", "optional": false},
         {"name": "remarks", "destination": "Remark", "inverse": "link", "toMany": true, "deleteRule": "cascade"}]},
      {"name": "Remark", "scope": "link",
       "attributes": [{"name": "text", "type": "string", "default": ""}],
       "relationships": [{"name": "link", "destination": "Link", "inverse": "remarks"}]}]}
    """
}
