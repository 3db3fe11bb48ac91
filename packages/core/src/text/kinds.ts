/**
 * Kinds of things and what belongs to them: who asks for pets looks for a dog as well. Everyday English and nothing else;
 * one way only, as who asks for a dog doesn't mean a cat.
 */
import { stem } from "./stem.ts";

/** The stems of what is of the kind that a term names; nothing for most terms. */
export function membersOf(term: string): readonly string[] {
  return MEMBERS.get(term) ?? [];
}

/** Names of a kind, and words of that kind. */
const KINDS = `
pet: dog puppy cat kitten hamster rabbit parrot goldfish turtle lizard
animal wildlife: dog cat horse cow pig sheep goat chicken bird rabbit bear deer fox wolf elephant lion tiger monkey whale dolphin snake
instrument: guitar piano violin drum flute clarinet cello saxophone trumpet ukulele keyboard harp bass
sport athletic: basketball soccer football tennis baseball hockey volleyball golf swimming running cycling skiing surfing boxing climbing rugby cricket skating marathon
exercise workout fitness: gym running yoga jogging swimming weights cycling hiking pilates cardio stretching training
martial: karate judo taekwondo kickboxing boxing aikido wrestling
activity hobby pastime leisure: painting drawing pottery camping hiking swimming reading gardening cooking baking dancing photography knitting singing fishing chess biking yoga running writing gaming climbing
outdoor nature: hiking camping fishing climbing kayaking surfing biking skiing mountain forest trail lake beach park picnic
art artwork craft creative: painting drawing sculpture pottery photography sketch mural watercolor ceramics poem
music musical band: song concert album singer guitar piano jazz rock pop festival
dance: ballet salsa tango waltz choreography
food dish meal recipe cuisine: pizza pasta soup salad chicken beef fish rice sandwich burger curry bread cheese vegetable fruit cake sushi taco dinner lunch breakfast
dessert: cake pie cookie chocolate pudding brownie muffin pastry tart candy
snack: chips candy cookie popcorn nuts fruit chocolate soda crackers
drink beverage: coffee tea beer wine juice water soda smoothie cocktail milk lemonade
fruit: apple banana orange peach strawberry mango grape berry pear
vegetable: carrot potato tomato broccoli onion spinach pepper cucumber salad
game: chess poker cards console puzzle video multiplayer tournament
movie film: cinema theater trilogy sequel documentary actor
book: novel author series chapter memoir biography library
country nation abroad: america canada mexico brazil england britain ireland scotland france germany italy spain portugal greece sweden norway turkey india china japan korea thailand australia egypt europe
city town: york london paris tokyo rome berlin barcelona boston chicago seattle toronto sydney amsterdam francisco
state: california florida texas oregon washington colorado arizona nevada utah michigan ohio georgia virginia tennessee carolina hawaii alaska
place location destination: city town country beach mountain park museum lake island restaurant cafe
family relative: mother mom father dad sister brother son daughter husband wife parent kid child cousin aunt uncle grandma grandmother grandpa grandfather nephew niece
parent: mother mom father dad
sibling: sister brother
child kid: son daughter baby toddler
grandparent: grandma grandmother grandpa grandfather
spouse partner: husband wife boyfriend girlfriend fiance
relationship romantic: dating boyfriend girlfriend husband wife single married partner breakup divorce
marriage: married wedding husband wife engaged engagement honeymoon
job career profession occupation employment: work teacher engineer nurse doctor lawyer manager office company hired promotion boss colleague business
vehicle transport: car truck bike bicycle motorcycle bus train boat van plane
illness disease ailment condition: cold flu fever cancer diabetes asthma allergy migraine infection arthritis
health medical: doctor hospital diet weight medication surgery therapy checkup diagnosis sick
injury: broken sprained hurt ankle knee wrist cast accident
emotion feeling mood: happy sad angry excited nervous proud anxious scared grateful lonely upset relieved overwhelmed
furniture: sofa couch table chair desk bed shelf lamp
clothes clothing outfit: shirt dress shoes jacket hat jeans sweater coat scarf
jewelry: necklace ring bracelet earring pendant
flower plant: rose tulip sunflower lily daisy orchid succulent garden
weather: rain snow storm sunny wind cloudy hurricane flood
season: spring summer autumn fall winter
color: red blue green yellow purple orange pink black white brown
school education degree: university college class course student teacher graduate exam major
event celebration: party festival wedding parade concert conference fair fundraiser ceremony birthday tournament
holiday vacation trip travel: christmas thanksgiving beach camping flight hotel cruise tour visit
charity volunteer: donate fundraiser shelter homeless community nonprofit
religion religious faith: church prayer bible god temple mosque spiritual
device equipment gadget: phone laptop computer tablet camera headphones monitor console
gift present: necklace book flowers card watch toy ring
finance financial money: loan debt salary savings budget rent bill invest bank
home residence: house apartment moved condo neighborhood
`;

const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map(
  KINDS.trim()
    .split("\n")
    .flatMap((line) => {
      const [names, members] = line.split(": ").map((half) => half.split(" ").map(stem)) as [string[], string[]];
      return names.map((name) => [name, members.filter((member) => member !== name)] as const);
    }),
);
