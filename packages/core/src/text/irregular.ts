/** Irregular English forms and the form they are indexed as. A table about the language, not about any data set. */

const FORMS = `
go went gone goes; be been; do did done does; have had has; see saw seen; take took taken; give gave given; get got gotten;
make made; come came; become became; run ran; begin began begun; buy bought; bring brought; think thought; teach taught;
catch caught; fight fought; seek sought; find found; feel felt; keep kept; leave left; lose lost; mean meant; meet met;
sleep slept; sweep swept; weep wept; creep crept; deal dealt; dream dreamt; learn learnt; burn burnt; spell spelt; spend spent;
send sent; lend lent; bend bent; build built; tell told; sell sold; say said; pay paid; hear heard; hold held; stand stood;
understand understood; win won; sit sat; speak spoke spoken; break broke broken; choose chose chosen; freeze froze frozen;
steal stole stolen; wake woke woken; wear wore worn; tear tore torn; swear swore sworn; bear bore borne; drive drove driven;
ride rode ridden; rise rose risen; write wrote written; hide hid hidden; bite bit bitten; eat ate eaten; fall fell fallen;
forget forgot forgotten; forgive forgave forgiven; know knew known; grow grew grown; throw threw thrown; fly flew flown flies;
draw drew drawn; show shown; blow blew blown; sing sang sung; ring rang rung; drink drank drunk; swim swam swum; sink sank sunk;
shrink shrank shrunk; stick stuck; strike struck; swing swung; hang hung; dig dug; spin spun; sting stung; shoot shot; shine shone;
light lit; lead led; feed fed; breed bred; bleed bled; speed sped; flee fled; slide slid; lay laid; lie lain; grind ground;
wind wound; bind bound; overcome overcame; undergo underwent undergone; undertake undertook undertaken; withdraw withdrew withdrawn;
mistake mistook mistaken; shake shook shaken; arise arose arisen; weave wove woven; sew sewn; sow sown; mow mown; prove proven;
child children; man men; woman women; person people; foot feet; tooth teeth; mouse mice; goose geese; wife wives;
knife knives; leaf leaves; shelf shelves; half halves; wolf wolves; thief thieves; loaf loaves; self selves; calf calves;
good better best; bad worse worst; analysis analyzes; crisis crises; hypothesis hypotheses; criterion criteria;
phenomenon phenomena; index indices indexes; vertex vertices; matrix matrices; schema schemata; photo photograph photos;
mom mother mum mommy; dad father daddy; bike bicycle; television tv; picture pic pics; movie film films movies;
1 one; 2 two; 3 three; 4 four; 5 five; 6 six; 7 seven; 8 eight; 9 nine; 10 ten
`;

/** From every form to the first of its row. */
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  FORMS.split(";").flatMap((row) => {
    const [base, ...forms] = row.trim().split(/\s+/);
    return forms.map((form): [string, string] => [form, base!]);
  }),
);
