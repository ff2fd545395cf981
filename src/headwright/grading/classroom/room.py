"""Students with their answers, and what each answer earns: points, or a gap where a person has to decide."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from headwright.grading.assignment import Assignment
from headwright.grading.autograder.points import awards
from headwright.grading.classroom.decisions import TeacherDecision
from headwright.grading.sheets.files import in_order, student_of
from headwright.grading.sheets.sheet import Checked
from headwright.grading.verdict import Word, worst

CODE = 6  # hexadecimal digits of a student's code


@dataclass(frozen=True)
class Mark:
    """What a student has for one exercise.

    `object` and `formulas` are points by machine, None where a person has to decide; a
    decision stands for both.
    """

    exercise: str
    word: Word | None  # None: there is no answer
    object: float | None
    formulas: float | None
    most: float
    decision: TeacherDecision | None = None

    @property
    def points(self) -> float | None:
        """The points for the exercise, or None while a person has to decide."""
        if self.decision is not None:
            return self.decision.points
        if self.object is None or self.formulas is None:
            return None
        return self.object + self.formulas


@dataclass(frozen=True)
class Student:
    """What one student handed in, how many false formulas that has, and how many sentences to read."""

    name: str
    answers: tuple[Checked, ...]
    false: int
    to_read: int
    unread: bool = False  # whether a file was not read
    number: str = ""  # that an LMS gave
    handed_in: bool = True  # whether there is a file that holds something

    def of(self, exercise: str) -> list[Checked]:
        """The answers to an exercise."""
        return [one for one in self.answers if one.answer.exercise_id == exercise]

    def word(self, exercise: str) -> Word | None:
        """The verdict on an exercise; the worst, where it is answered more than once."""
        words = [checked.verdict.word for checked in self.of(exercise)]
        return worst(words) if words else None

    def mark(
        self,
        exercise: str,
        assignment: Assignment,
        decision: TeacherDecision | None = None,
    ) -> Mark:
        """The mark for an exercise, with what a person decided."""
        verdicts = [checked.verdict for checked in self.of(exercise)]
        word = self.word(exercise)
        most = assignment.worth(exercise)
        earned = awards(verdicts, exercise, assignment)
        by_object, by_formulas = [award.points for award in earned] or [0.0, 0.0]
        read = any(verdict.to_read for verdict in verdicts)
        words_alone = word == "missing" and read
        nothing_found = self.handed_in and (self.unread or not self.answers)
        nothing_read = word is None and nothing_found
        if words_alone or nothing_read:
            return Mark(exercise, word, None, None, most, decision)
        if word == "undecided":
            return Mark(exercise, word, None, by_formulas, most, decision)
        return Mark(exercise, word, by_object, by_formulas, most, decision)


@dataclass(frozen=True)
class Classroom:
    """A class: students with the most false formulas come first, then those with the most sentences to read."""

    students: tuple[Student, ...]
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class MarkedStudent:
    """A student with the mark for each exercise."""

    student: Student
    marks: tuple[Mark, ...]

    @property
    def open(self) -> tuple[str, ...]:
        """The exercises that a person has to decide."""
        return tuple(mark.exercise for mark in self.marks if mark.points is None)

    @property
    def so_far(self) -> float:
        """The points without those that are open."""
        return sum(mark.points for mark in self.marks if mark.points is not None)

    @property
    def total(self) -> float | None:
        """All points, or None while something is open."""
        return None if self.open else self.so_far


def classroom(
    checked: Sequence[Checked],
    names: Iterable[str] = (),
    exercises: Sequence[str] = (),
    unread: Collection[str] = (),
    numbers: Mapping[str, str] | None = None,
    empty: Collection[str] = (),
) -> Classroom:
    """The class that handed these in, and those whose files hold no answer: see `student_of`.

    Who is among the `empty` handed in nothing: that is no answer, and nothing to decide.
    `exercises` are those that were set; without them, those that somebody answered.
    """
    by_name: dict[str, list[Checked]] = {name: [] for name in names}
    for answer in checked:
        by_name.setdefault(student_of(answer.answer.file), []).append(answer)
    students = []
    for name, answers in by_name.items():
        false = sum(len(answer.verdict.false_formulas) for answer in answers)
        to_read = sum(len(answer.verdict.to_read) for answer in answers)
        number = (numbers or {}).get(name, "")
        student = Student(
            name,
            tuple(answers),
            false,
            to_read,
            name in unread,
            number,
            handed_in=name not in empty,
        )
        students.append(student)
    students.sort(key=lambda one: (-one.false, -one.to_read, in_order(one.name)))
    answered = dict.fromkeys(answer.answer.exercise_id for answer in checked)
    return Classroom(tuple(students), tuple(exercises) or tuple(answered))


def marked(
    room: Classroom,
    assignment: Assignment,
    decisions: Mapping[tuple[str, str], TeacherDecision] | None = None,
) -> list[MarkedStudent]:
    """All students with their marks; `decisions` by student and exercise."""
    decisions = decisions or {}
    rows = []
    for student in room.students:
        marks = []
        for exercise in room.exercises:
            decision = decisions.get((student.name, exercise))
            marks.append(student.mark(exercise, assignment, decision))
        rows.append(MarkedStudent(student, tuple(marks)))
    return rows


def codes(names: Iterable[str]) -> dict[str, str]:
    """A code for each student, which is the same on every run.

    It hides names from whoever reads, and not from whoever knows the list of names.

    >>> codes(["ada", "ben"])
    {'ada': 'student fdee43', 'ben': 'student 670086'}
    """
    found: dict[str, str] = {}
    for name in names:
        digest = sha256(name.encode()).hexdigest()
        digits = CODE
        while (code := f"student {digest[:digits]}") in found.values():
            digits += 1
        found[name] = code
    return found


def anonymous(room: Classroom, by_name: Mapping[str, str]) -> Classroom:
    """The same class with codes for names; files are numbered, since their names may hold a name."""
    students = []
    for student in room.students:
        code = by_name[student.name]
        files = dict.fromkeys(answer.answer.file for answer in student.answers)
        shown = {file: f"{code}/{n}" for n, file in enumerate(files, 1)}
        answers = []
        for checked in student.answers:
            answer = replace(checked.answer, file=shown[checked.answer.file])
            answers.append(replace(checked, answer=answer))
        students.append(replace(student, name=code, answers=tuple(answers)))
    students.sort(key=lambda one: (-one.false, -one.to_read, one.name))
    return Classroom(tuple(students), room.exercises)
