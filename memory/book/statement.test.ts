import { describe, expect, it } from "vitest";
import { relationOf, type Relation } from "./contradiction.ts";
import { statementOf } from "./statement.ts";

function relation(earlier: string, later: string): Relation {
  const [one, other] = [statementOf(later), statementOf(earlier)];
  if (one === null || other === null) return "apart";
  return relationOf(one, other);
}

describe("a later statement takes the place of an earlier one", () => {
  it.each([
    // Where somebody lives, in many languages, and by moving.
    ["I live in Lisbon", "I've moved to Porto"],
    ["I live in Lisbon", "I have just moved to Porto"],
    ["I'm living in Lisbon", "I'm now living in Porto"],
    ["I've lived in Ghent since 2019", "I live in Oslo"],
    ["I live in Lisbon", "The user moved to Porto"],
    ["Ich wohne in Graz", "Ich bin nach Wien gezogen"],
    ["J'habite à Lyon", "J'ai déménagé à Paris"],
    ["Vivo en Madrid", "Me mudé a Sevilla"],
    ["Vivo a Roma", "Mi sono trasferito a Milano"],
    ["Moro em Lisboa", "Moro no Porto"],
    ["Moro em Lisboa", "Mudei-me para o Porto"],
    ["Ik woon in Gent", "Ik woon nu in Antwerpen"],
    ["Jag bor i Lund", "Jag bor nu i Malmö"],
    ["Mieszkam w Warszawie", "Teraz mieszkam w Krakowie"],
    ["Я живу в Москве", "Я переехал в Казань"],
    ["Я мешкаю в Києві", "Я живу у Львові"],
    ["Μένω στην Αθήνα", "Μένω στην Πάτρα"],
    ["İzmir'de yaşıyorum", "Ankara'da yaşıyorum"],
    ["我住在北京", "我搬到上海了"],
    ["東京に住んでいます", "大阪に引っ越しました"],
    ["서울에 살아요", "부산에 살아요"],
    ["أسكن في القاهرة", "أسكن في دبي"],
    ["मैं दिल्ली में रहता हूँ", "मैं मुंबई में रहता हूँ"],
    ["J'habite à Lyon", "I live in Paris"],
    // Names, work and age.
    ["Call me Kim", "Call me Lee"],
    ["My boss is Karin", "My boss is Fred"],
    ["My job is a teacher", "My job is nursing"],
    ["My flight is delayed", "My flight is not delayed"],
    ["I live in Porto", "I live in The Hague"],
    ["Меня зовут Иван", "Меня зовут Пётр"],
    ["我叫王伟", "我叫李雷"],
    ["私の名前は花子です", "私の名前は太郎です"],
    ["Me llamo Ana", "Me llamo Eva"],
    ["Я работаю в Яндексе", "Теперь я работаю в Озоне"],
    ["I work at Acme", "I left Acme, I work at Globex now"],
    ["I work as a nurse", "I now work as a teacher"],
    ["Мне 40 лет", "Мне 41 год"],
    ["I was born in Lisbon", "I was born in Porto"],
    ["I was born in 1990", "I was born in 1991"],
    ["I have two kids", "I have three kids"],
    ["I'm single", "I'm married"],
    ["I weigh 80 kg", "I weigh 78 kg"],
    // Numbers, dates and places.
    ["my flight is BA117", "my flight is BA118, not BA117"],
    ["my meeting is on Monday", "my meeting has moved to Tuesday"],
    ["my meeting is at 3pm", "my meeting was moved to 4pm"],
    ["the deadline is 3 May", "the deadline has been extended to 10 May"],
    ["my favourite colour is blue", "my favorite color is green"],
    // Others by name.
    ["Bob lives in London", "Bob moved to Leeds"],
    ["Bob works at Acme", "Bob works for Globex now"],
    // One that says of itself that it corrects.
    ["My sister's name is Ana", "No, my sister is called Anna"],
  ])("%j, then %j", (earlier, later) => {
    expect(relation(earlier, later)).toBe("replaces");
  });

  it.each([
    ["I live in Lisbon", "I no longer live in Lisbon"],
    ["I live in Lisbon", "I don't live in Lisbon any more"],
    ["I live in Lisbon", "I used to live in Lisbon"],
    ["I work at Acme", "I don't work at Acme any more"],
    ["Ich wohne in Graz", "Ich wohne nicht mehr in Graz"],
    ["J'habite à Lyon", "Je n'habite plus à Lyon"],
    ["Vivo en Madrid", "Ya no vivo en Madrid"],
    ["Я живу в Москве", "Я больше не живу в Москве"],
    ["我住在北京", "我不住在北京了"],
    ["my car is red", "my car isn't red"],
    ["I don't eat meat", "I eat meat"],
    ["I eat meat", "I stopped eating meat"],
    ["I smoke", "I quit smoking"],
    ["I swim", "I stopped swimming"],
    ["Ich esse Fleisch", "Ich esse kein Fleisch"],
    ["Ich mag Kaffee", "Ich mag keinen Kaffee"],
    ["Je mange de la viande", "Je ne mange pas de viande"],
    ["J'aime le café", "Je n'aime pas le café"],
    ["No como carne", "Como carne"],
    ["Я ем мясо", "Я не ем мясо"],
    ["我不吃肉", "我吃肉"],
    ["我喜欢咖啡", "我不喜欢咖啡"],
    ["I like tea", "I hate tea"],
  ])("by denial: %j, then %j", (earlier, later) => {
    expect(relation(earlier, later)).toBe("replaces");
  });
});

describe("two statements stand beside each other, to be settled by their owner", () => {
  it.each([
    ["My sister's name is Ana", "My sister is called Anna"],
    ["My brother lives in London", "My brother lives in Leeds"],
    ["my son is 4", "my son is 5"],
    ["I live in Paris in summer", "I live in Rome in winter"],
    ["I live in Paris", "I also live in Rome"],
    ["I live in Paris. My dog is called Rex.", "I live in Rome"],
  ])("%j and %j", (earlier, later) => {
    expect(relation(earlier, later)).toBe("beside");
  });
});

describe("two statements have nothing to do with each other", () => {
  it.each([
    ["I live in Porto", "I no longer live in Lisbon"],
    ["I no longer live in Lisbon", "I live in Porto"],
    ["I don't live in Rome", "I don't live in Paris"],
    ["I work at Globex", "I don't work at Acme any more"],
    ["my car is red", "my car isn't blue"],
    ["my meeting is on Monday", "my meeting is at 3pm"],
    ["I was born in Lisbon", "I was born in 1990"],
    ["I live in Oslo", "I live in fear of spiders"],
    ["I live in Oslo", "I live in a flat"],
    ["I live in Oslo", "I want to live in Rome"],
    ["I live in Oslo", "I would never live in Rome"],
    ["I live in Oslo", "If I lived in Rome I would be happy"],
    ["I live in Berlin", "My brother lives in Leeds"],
    ["I live in Berlin", "Bob lives in Leeds"],
    ["Bob lives in London", "Ann lives in Leeds"],
    ["I like tea", "Bob doesn't like tea"],
    ["I have a dog", "I have a cat"],
    ["I have two cats", "I have three dogs"],
    ["I speak French", "I speak German"],
    ["My sister is Rosa", "My sister is Ida"],
    ["Я люблю кофе", "Я люблю чай"],
    ["我喜欢咖啡", "我喜欢茶"],
    ["I work at Acme", "I work at home"],
    // How a thing is, where it is and what kind it is leave its value alone.
    ["My phone is 555-1234", "My phone is broken"],
    ["My flight is BA117", "My flight is delayed"],
    ["My flight is BA117", "My flight is at 9am"],
    ["My wife is Anna", "My wife is a doctor"],
    ["My wife is Anna", "My wife is pregnant"],
    ["My manager is Kim", "My manager is on leave"],
    ["My dentist is Dr. Okafor", "My dentist is on Main Street"],
    ["My budget is 500 euros", "My budget is tight"],
    ["My job is nursing", "My job is stressful"],
    ["My name is Ada", "My name is often misspelled"],
    ["I work at Acme", "I work at night"],
    ["I work for Acme", "I work for fun"],
    ["I live in Porto", "I live in the moment"],
    ["I live in Porto", "I live on the third floor"],
  ])("%j and %j", (earlier, later) => {
    expect(relation(earlier, later)).toBe("apart");
  });
});
