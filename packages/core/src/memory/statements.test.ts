import assert from "node:assert/strict";
import { test } from "node:test";
import { asksNothing } from "./statements.ts";

test("statements, greetings and thanks ask nothing", () => {
  for (const text of [
    "My name is Ada and I live in Bergen.",
    "I\u2019m a baker. My shop opens at six.",
    "Thanks!",
    "hello there friend",
    "By the way, we moved to the second floor.",
    "",
  ])
    assert.equal(asksNothing(text), true, text);
});

test("questions, requests, references to what was before and commands ask something", () => {
  for (const text of [
    "Where do I live?",
    "I need the address of the warehouse.",
    "My build fails again.",
    "read tides.txt",
    "Fix the login page.",
    "I'm planning a trip to Oslo. Suggest a hotel.",
    "The deploy script is the same one that failed.",
    "Ich wohne in Bergen.",
    "ich brauche die Adresse",
    `I like tea. ${"It is good. ".repeat(50)}`,
  ])
    assert.equal(asksNothing(text), false, text);
});

const TELLING = [
  "My name is Ada.",
  "I live in Bergen and work at a bakery.",
  "I'm allergic to peanuts.",
  "Thanks!",
  "Thank you so much, that helped.",
  "ok",
  "Okay, great.",
  "Hi there!",
  "Hello, I am new here.",
  "It worked.",
  "That is right.",
  "We moved to Oslo in May.",
  "Our dog is called Rex.",
  "My birthday is on March 3rd.",
  "Yesterday I ran ten kilometers.",
  "By the way, my sister's name is Ingrid.",
  "The tests pass.",
  "Yes, that one.",
  "No, I don't think so.",
  "I've finished the report.",
  "Perfect.",
  "Good morning!",
  "This is my second week at the job.",
  "They delivered the parts on Monday.",
  "I don\u2019t like coriander.",
  "Nice, it builds.",
  "I prefer tea to coffee.",
  "There are four of us.",
  "She is my boss.",
  "i moved last week, new street is Harbor Road 4",
];
const ASKING = [
  "Where do I live?",
  "Tell me where I live",
  "Can you check the log",
  "please fix it",
  "Continue",
  "Do it again",
  "Book the usual table",
  "Write the email to my boss",
  "Same as last time",
  "I want to know who keeps the key",
  "I wonder which tea I like",
  "Remind me of the code",
  "Fix the bug in parser.ts",
  "Which one",
  "My favorite tea is the one I told you about before, order it",
  "Deploy it",
  "Ich wohne in Bergen",
  "wo wohne ich",
  "\u6211\u4f4f\u5728\u54ea\u91cc\uff1f",
  "what's my name",
  "Now the same for Oslo",
  "Let's go on",
  "I need the address of Ingrid",
  "How tall is it",
  "I forgot my own address",
  "Summarize our plan",
  "The usual.",
  "Order number 17: status",
  "Next step",
];

test("thirty sentences that only tell something ask nothing, in whatever form", () => {
  assert.deepEqual(
    TELLING.filter((text) => !asksNothing(text)),
    [],
  );
  assert.equal(TELLING.length, 30);
});

test("sentences that want something are never taken for statements: questions, orders, fragments, other languages", () => {
  assert.deepEqual(
    ASKING.filter((text) => asksNothing(text)),
    [],
  );
});
