"""What a person does on a page, with a daemon in place of the fake session of Tests/WebTests/browser."""
from test_board import (  # noqa: F401  They are the tests of this module.
    test_double_click_writes_at_the_pointer, test_empty_new_note_is_not_kept, test_exports, test_keyboard_story,
    test_lines_are_pasted_as_notes, test_print_shows_all_notes)
