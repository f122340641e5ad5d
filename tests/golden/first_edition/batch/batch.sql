PRAGMA application_id = 0;
PRAGMA user_version = 0;
BEGIN TRANSACTION;
CREATE TABLE batch (settings TEXT NOT NULL);
INSERT INTO "batch" VALUES('{"arbiter": null, "consensus": null, "decomposer": null, "embedder": "lexical", "judges": ["openai:m0@http://models.test/v1", "openai:m1@http://models.test/v1"], "pages": null, "protocol": "longproof", "sample": 0}');
CREATE TABLE cases (
  name TEXT PRIMARY KEY COLLATE NOCASE, id TEXT NOT NULL, line INTEGER NOT NULL, offset INTEGER NOT NULL,
  length INTEGER NOT NULL, sources TEXT NOT NULL, key TEXT NOT NULL, seen INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'todo', summary TEXT NOT NULL DEFAULT '', failure TEXT NOT NULL DEFAULT ''
);
INSERT INTO "cases" VALUES('ferry-0','ferry-0',1,0,3079,'475a92ed5e0a04853892f0425731a003542f3d72f89f5b6e07dd0396d44c19f9','9f9d43c9fbb419cccdf27233f64859ccb4f6bd146e65023e04623d2f88cf6bdd',1,'done','{"name":"ferry-0","id":"ferry-0","verdict":"hallucinated","claims":6,"counts":{"contradicting":1,"fabricated":3,"ambiguous":0,"no_fact":0,"out_dependent":0,"implicitly_supported":0,"explicitly_supported":2,"undecided":0},"coverage":1.0,"usage":{"calls":9,"prompt_tokens":15713,"completion_tokens":1799,"cached_tokens":7856,"prompt_characters":62866}}','');
INSERT INTO "cases" VALUES('ferry-1','ferry-1',2,3079,2648,'475a92ed5e0a04853892f0425731a003542f3d72f89f5b6e07dd0396d44c19f9','ae93bd331134e0d42c4844c782315e3927b367c22316fff8c449c61dd145f7bb',1,'done','{"name":"ferry-1","id":"ferry-1","verdict":"hallucinated","claims":1,"counts":{"contradicting":1,"fabricated":0,"ambiguous":0,"no_fact":0,"out_dependent":0,"implicitly_supported":0,"explicitly_supported":0,"undecided":0},"coverage":1.0,"usage":{"calls":8,"prompt_tokens":12961,"completion_tokens":427,"cached_tokens":6478,"prompt_characters":51857}}','');
CREATE INDEX cases_by_line ON cases(line);
COMMIT;
