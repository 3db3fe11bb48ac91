import assert from "node:assert/strict";
import { test } from "node:test";
import { asksTime, namesTime, nearness, relativeDates, statedDates } from "./precedence.ts";

/** A Wednesday. */
const SAID = "2023-05-24T10:00:00Z";

test("words about a day are indexed as the day they meant", () => {
  const table = {
    "I went yesterday": "23 may 2023",
    "We leave tomorrow": "25 may 2023",
    "It was last Friday": "19 may 2023",
    "It was last Wednesday": "17 may 2023",
    "See you next Friday": "26 may 2023",
    "We hiked last weekend": "20 may 2023 21 may 2023",
    "That was three days ago": "21 may 2023",
    "That was four weeks ago": "april 2023",
    "Since last month, and next year too": "april 2024",
    "Two years ago": "2021",
    "A long time ago": "",
  };
  for (const [text, words] of Object.entries(table)) assert.equal(relativeDates(text, SAID), words, text);
  assert.equal(relativeDates("yesterday", "no date"), "");
});

test("a question states days and months, with their year or without", () => {
  const stated = (text: string) =>
    statedDates(text).map(({ year, month, day, daysBefore }) => [year, month + 1, day, daysBefore].join(" "));
  const table = {
    "What happened on 2023-05-03?": ["2023 5 3 0"],
    "On 3rd of May, 2023 or May 4 2023": ["2023 5 3 0", "2023 5 4 0"],
    "Which classes in mid-August 2023?": ["2023 8  0"],
    "the weekend before 3 May": [" 5 3 7"],
    "the day before May 3rd, 2022": ["2022 5 3 1"],
    "What did she do in May?": [" 5  0"],
    "May I ask who may march in December?": [" 12  0"],
    "On 2023-13-40": [],
    "Who won in 2022?": [],
  };
  for (const [text, dates] of Object.entries(table)) assert.deepEqual(stated(text), dates, text);
});

test("a date is told of in the weeks after it, and a little before; one without a year is any year's", () => {
  const [day] = statedDates("3 May 2023");
  const [weekend] = statedDates("the weekend before 3 May 2023");
  const [december] = statedDates("in December");
  assert.equal(nearness("2023-05-03T12:00:00Z", day!), 1);
  assert.equal(nearness("2023-04-29T12:00:00Z", weekend!), 1);
  assert.equal(nearness("2022-12-24T12:00:00Z", december!), 1);
  const after = nearness("2023-05-06T12:00:00Z", day!);
  const before = nearness("2023-04-30T12:00:00Z", day!);
  assert.ok(after < 1 && after > before && before > 0);
  assert.ok(nearness("2023-01-03T12:00:00Z", december!) > 0.8);
  assert.equal(nearness("2023-07-03T12:00:00Z", day!), 0);
  assert.equal(nearness("no date", day!), 0);
});

test("who asks for a time and who names one is read from their words", () => {
  for (const question of ["When did he go?", "How long was it?", "Which year?", "For how many days?"])
    assert.ok(asksTime(question), question);
  for (const question of ["Who went?", "How many dogs?", "Whenever"]) assert.ok(!asksTime(question), question);
  for (const text of ["We met last week", "In 2019", "for two years", "on Fridays", "this summer"])
    assert.ok(namesTime(text), text);
  for (const text of ["May I?", "They march on", "I fall", "three dogs"]) assert.ok(!namesTime(text), text);
});
